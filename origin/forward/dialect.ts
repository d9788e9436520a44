import type { ModelRoute } from '../../shared/routes.ts';
import { chat } from './dialects/chat.ts';
import type { Dialect } from './dialects/dialect.ts';
import { media } from './dialects/media.ts';
import { messages } from './dialects/messages.ts';
import { responses } from './dialects/responses.ts';

export type { Dialect } from './dialects/dialect.ts';

/** A reader of one event stream of this route. */
export function dialectOf(route: ModelRoute['path']): Dialect {
  switch (route) {
    case '/v1/chat/completions':
    case '/v1/completions':
      return chat();
    case '/v1/responses':
      return responses();
    case '/v1/messages':
    case '/v1/messages/count_tokens':
      return messages();
    case '/v1/embeddings':
    case '/v1/images/generations':
    case '/v1/audio/speech':
    case '/v1/audio/transcriptions':
    case '/v1/moderations':
      return media();
  }
}
