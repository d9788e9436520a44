import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions as OpenAIOptions } from 'openai';
import type { TestGateway } from './gateway.ts';

/** A client of `acme`, through the edge; nothing is tried again, so that a test sees each answer. */
const ofAcme = ({ eu }: TestGateway) => ({
  apiKey: eu.key('acme'),
  defaultHeaders: { 'x-jurisdiction': 'eu' },
  maxRetries: 0,
});

export const openaiClient = (gateway: TestGateway, more: OpenAIOptions = {}): OpenAI =>
  new OpenAI({ baseURL: `${gateway.edge.url}/v1`, ...ofAcme(gateway), ...more });

export const anthropicClient = (gateway: TestGateway, more: AnthropicOptions = {}): Anthropic =>
  new Anthropic({ baseURL: gateway.edge.url, ...ofAcme(gateway), ...more });

/** Headers of a caller who has a session with somebody, which is nobody's business behind the edge. */
export const WITH_COOKIE = { 'x-jurisdiction': 'eu', cookie: 'session=MARKER-COOKIE' };
