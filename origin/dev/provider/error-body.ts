import type { Api } from '../../../shared/routes.ts';
import type { Order } from './order.ts';

export interface ApiError {
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
}

type Usual = readonly [type: string, message: string, code?: string];

const OPENAI: Readonly<Record<number, Usual>> = {
  400: ['invalid_request_error', 'Invalid request.', 'invalid_value'],
  401: ['invalid_request_error', 'Incorrect API key provided.', 'invalid_api_key'],
  403: ['invalid_request_error', 'Project does not have access to the model.', 'model_not_found'],
  404: [
    'invalid_request_error',
    'The model does not exist or you do not have access to it.',
    'model_not_found',
  ],
  429: ['requests', 'Rate limit reached for requests.', 'rate_limit_exceeded'],
  503: ['server_error', 'The engine is currently overloaded, please try again later.'],
};

const ANTHROPIC: Readonly<Record<number, Usual>> = {
  401: ['authentication_error', 'invalid x-api-key'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
  404: ['not_found_error', 'model not found'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  429: ['rate_limit_error', 'This request would exceed your rate limit.'],
  529: ['overloaded_error', 'Overloaded'],
};

/** The error of a status as the API words it, with what the order says instead. */
export function usualError(api: Api, status: number, ordered: Order['error']): ApiError {
  const table = api === 'anthropic' ? ANTHROPIC : OPENAI;
  const serverFault = api === 'anthropic' ? 'api_error' : 'server_error';
  const fallback: Usual =
    status < 500
      ? ['invalid_request_error', 'Invalid request.']
      : [serverFault, 'The server had an error while processing your request.'];
  const [type, message, code = null] = table[status] ?? fallback;
  return {
    message: ordered?.message ?? message,
    type: ordered?.type ?? type,
    code: ordered?.code === undefined ? code : ordered.code,
  };
}

/** The error as the body of an answer, or as data of an error event in the chat and messages streams. */
export const errorDocument = (api: Api, error: ApiError, requestId: string): object =>
  api === 'anthropic'
    ? { type: 'error', error: { type: error.type, message: error.message }, request_id: requestId }
    : { error: { message: error.message, type: error.type, param: null, code: error.code } };
