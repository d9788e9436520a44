import type { Api } from '../../../shared/routes.ts';
import { type Answer, json } from './answer.ts';
import { chat, completions } from './chat.ts';
import { embeddings, images, moderations, speech, transcriptions } from './media.ts';
import { messages, tokenCount } from './messages.ts';
import { responses } from './responses.ts';
import type { RouteKind } from './route.ts';
import { CREATED, type Task } from './task.ts';

/** The answer of a healthy provider to a request on a route. */
export function compose(route: RouteKind, api: Api, task: Task): Answer {
  switch (route) {
    case 'chat':
      return chat(task);
    case 'completion':
      return completions(task);
    case 'response':
      return responses(task);
    case 'embedding':
      return embeddings(task);
    case 'image':
      return images(task);
    case 'speech':
      return speech(task);
    case 'transcription':
      return transcriptions(task);
    case 'moderation':
      return moderations(task);
    case 'message':
      return messages(task);
    case 'token_count':
      return tokenCount(task);
    case 'models':
      return json(api === 'anthropic' ? anthropicModels : openaiModels);
  }
}

const openaiModels = {
  object: 'list',
  data: ['example-large', 'example-small'].map((id) => ({
    id,
    object: 'model',
    created: CREATED,
    owned_by: 'provider',
  })),
};

const anthropicModels = {
  data: ['example-large', 'example-small'].map((id) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(CREATED * 1000).toISOString(),
  })),
  has_more: false,
  first_id: 'example-large',
  last_id: 'example-small',
};
