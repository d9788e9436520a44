import { z } from 'zod';
import { isLogName } from '../../shared/checkpoint.ts';
import { ZONES } from '../../shared/zones.ts';
import { endpointEntrySchema, environmentName } from '../endpoints/registry.ts';
import { limitsSchema } from '../limits.ts';
import { witnessesSchema } from './witnesses.ts';

const host = z.string().regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or address');
const port = z.int().min(0).max(65_535);
const file = z.string().min(1).max(4_096);

/** No message repeats it: a PostgreSQL URL holds a password. */
const store = z
  .string()
  .regex(
    /^(?:sqlite:(?!:)\S.*|postgres(?:ql)?:\/\/\S+)$/,
    'must be sqlite:<file> or postgres://…: records need a disk',
  );

/** The YAML file of one origin. Paths in it are relative to it. */
export const originFileSchema = z.strictObject({
  jurisdiction: z.enum(ZONES).describe('The zone of this origin. eu is the EEA.'),
  listen: z
    .strictObject({ host, port })
    .describe('Where calls come in, as plain HTTP: a balancer of yours ends TLS. Port 0: any free one.'),
  /** A second address, so that no balancer shows it by mistake. */
  admin: z
    .strictObject({
      host,
      port,
      token_env: environmentName
        .exactOptional()
        .describe("Name of the environment variable that holds the operators' token."),
    })
    .describe('Where operators come in, and metrics are read.'),
  store: store.describe('sqlite:FILE, or postgres://… for several origins of one zone.'),
  edge_keys: file.describe('File of the public keys whose assertions count (JWK set).'),
  signing_key: file.describe('File of the private key for receipts and checkpoints (Ed25519 JWK).'),
  /** The first line of its checkpoints (C2SP tlog-checkpoint: no spaces, no plus). */
  log_name: z
    .string()
    .regex(/^[^\s+\p{Cc}]{1,128}$/u, 'must be a name without spaces and "+", as residency.example/eu')
    .refine(isLogName, 'is no name for a log: take one as residency.example/eu')
    .describe("Name of the zone's log, for ever: receipts and checkpoints carry it."),
  witnesses: witnessesSchema.default([]).describe("Who cosigns the log's checkpoints."),
  witness_quorum: z
    .int()
    .min(1)
    .exactOptional()
    .describe(
      'How many witnesses have to have cosigned a checkpoint for it to count as witnessed. All by default.',
    ),
  endpoints: z
    .array(endpointEntrySchema)
    .min(1, 'names no endpoint')
    .max(10_000)
    .describe('Every place that may be called. Which of them serves whom is for the policies to say.'),
  policies: z
    .array(file)
    .min(1, 'names no policy')
    .max(1_000)
    .describe('Files of the policies of this zone.'),
  tenants: file.exactOptional().describe('File of the tenants that are declared here.'),
  limits: limitsSchema.prefault({}).describe('By name: *_bytes in bytes, *_ms in milliseconds.'),
});

export type OriginFile = z.infer<typeof originFileSchema>;
