import { bearer, openaiUrl } from './openai-api.ts';
import type { Provider } from './provider-contract.ts';

/**
 * Anything else that speaks the OpenAI API: vLLM, Ollama, TGI, or another gateway inside the zone. Its host
 * name is the operator's to choose and so proves nothing; a header of its own can (`region_header`).
 */
export const openaiCompatible: Provider = {
  name: 'openai-compatible',
  api: 'openai',
  authorize: bearer,
  url: openaiUrl,
  placeOf: () => undefined,
};
