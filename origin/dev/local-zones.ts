import type { Zone } from '../../shared/zones.ts';

/** An endpoint of the built-in stack; a programmable provider on this machine stands for it. */
export interface LocalEndpoint {
  readonly id: string;
  readonly api: 'openai' | 'anthropic';
  readonly region: string;
  readonly facility: string;
  /** Response header in which it says where it ran. */
  readonly regionHeader?: string;
}

interface LocalZone {
  readonly zone: Zone;
  readonly policy: string;
  readonly countries: readonly string[];
  readonly tenants: readonly string[];
  /** In the order in which they are tried. */
  readonly endpoints: readonly LocalEndpoint[];
  /** Ports of the public and the admin address, taken where they are free. */
  readonly ports: readonly [number, number];
}

interface LocalWorkload {
  readonly class: string;
  /** Dated id of the model behind it. */
  readonly model: string;
  /** Those by which it can be called. */
  readonly apis: readonly LocalEndpoint['api'][];
}

/** Workloads of the built-in stack. */
export const LOCAL_WORKLOADS: Readonly<Record<string, LocalWorkload>> = {
  'support-chat': { class: 'large', model: 'vendor.large-20260101', apis: ['openai', 'anthropic'] },
  'ticket-embedding': { class: 'embedding', model: 'vendor.embed-20260101', apis: ['openai'] },
};

const openai = (id: string, region: string, facility: string): LocalEndpoint => ({
  id,
  api: 'openai',
  region,
  facility,
});
const anthropic = (id: string, region: string, facility: string): LocalEndpoint => ({
  id,
  api: 'anthropic',
  region,
  facility,
});

/** The zones that `npm start` runs: a support product with customers on three continents. */
export const LOCAL_ZONES: readonly LocalZone[] = [
  {
    zone: 'eu',
    policy: 'eu-support',
    countries: ['EEA'],
    tenants: ['helpdesk-de'],
    endpoints: [
      { ...openai('fra-chat', 'eu-central-1', 'AWS Frankfurt'), regionHeader: 'x-ms-region' },
      openai('dub-chat', 'eu-west-1', 'AWS Dublin'),
      openai('sto-chat', 'eu-north-1', 'AWS Stockholm'),
      anthropic('fra-messages', 'eu-central-1', 'AWS Frankfurt'),
    ],
    ports: [8801, 8901],
  },
  {
    zone: 'us',
    policy: 'us-support',
    countries: ['US'],
    tenants: ['helpdesk-us'],
    endpoints: [
      openai('iad-chat', 'us-east-1', 'AWS N. Virginia'),
      openai('pdx-chat', 'us-west-2', 'AWS Oregon'),
      anthropic('iad-messages', 'us-east-1', 'AWS N. Virginia'),
    ],
    ports: [8802, 8902],
  },
  {
    zone: 'au',
    policy: 'au-support',
    countries: ['AU'],
    tenants: ['helpdesk-au'],
    endpoints: [
      openai('syd-chat', 'ap-southeast-2', 'AWS Sydney'),
      openai('mel-chat', 'ap-southeast-4', 'AWS Melbourne'),
      anthropic('syd-messages', 'ap-southeast-2', 'AWS Sydney'),
    ],
    ports: [8803, 8903],
  },
];
