import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DURATION_BUCKETS, FIRST_TOKEN_BUCKETS, TOKEN_BUCKETS } from './gen-ai.ts';

/** In seconds. The gateway's own time is a few milliseconds; what is far above it waited for the log. */
const OWN_TIME_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Records of one commit, up to the most that the ledger puts into one. */
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Attributes that the conventions want on every measure of a call to an endpoint. */
const CLIENT = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model', 'endpoint'] as const;
const SERVER = ['gen_ai_operation_name', 'gen_ai_request_model'] as const;

/** Every metric of an origin, made in a registry of its own. */
export function instruments(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter<Label>({ name, help, labelNames: [...labelNames], registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge<Label>({ name, help, labelNames: [...labelNames], registers });
  const histogram = <Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ) => new Histogram<Label>({ name, help, buckets: [...buckets], labelNames: [...labelNames], registers });

  return {
    requests: counter('residency_requests_total', 'Requests that reached this origin and have ended.', [
      'route',
      'workload',
      'outcome',
      'code',
    ]),
    refusals: counter(
      'residency_refusals_total',
      'Refusals on record, those that the edge reported among them.',
      ['code', 'decided_by'],
    ),
    attempts: counter('residency_attempts_total', 'Attempts at an endpoint, by how they ended.', [
      'endpoint',
      'result',
    ]),
    violations: counter(
      'residency_violations_total',
      'Answers from outside the regions of the policy (mismatch), or that do not show their region (unverified).',
      ['endpoint', 'source', 'verdict'],
    ),
    circuits: gauge('residency_circuit_state', '1 for the state that the circuit of an endpoint is in.', [
      'endpoint',
      'state',
    ]),
    probes: counter('residency_probes_total', 'Health probes, by what they found.', ['endpoint', 'outcome']),
    probeTokens: counter('residency_probe_tokens_total', 'Tokens that health probes have cost.', [
      'endpoint',
      'type',
    ]),
    addedLatency: histogram(
      'residency_added_latency_seconds',
      'From a call to the first byte of an answer, less the time in which its body or an endpoint was awaited.',
      OWN_TIME_BUCKETS,
      ['route'],
    ),
    firstByte: histogram(
      'residency_time_to_first_byte_seconds',
      'From a call to the first byte of an answer that is no stream.',
      FIRST_TOKEN_BUCKETS,
      SERVER,
    ),
    firstToken: histogram(
      'gen_ai_server_time_to_first_token_seconds',
      'From a call to the first content of its stream.',
      FIRST_TOKEN_BUCKETS,
      SERVER,
    ),
    requestDuration: histogram(
      'gen_ai_server_request_duration_seconds',
      'From a call to the last byte of its answer, or its end in an error.',
      DURATION_BUCKETS,
      [...SERVER, 'error_type'],
    ),
    operationDuration: histogram(
      'gen_ai_client_operation_duration_seconds',
      'From the beginning of an attempt to its end.',
      DURATION_BUCKETS,
      [...CLIENT, 'error_type'],
    ),
    firstChunk: histogram(
      'gen_ai_client_operation_time_to_first_chunk_seconds',
      'From the beginning of an attempt to the first content of a stream.',
      DURATION_BUCKETS,
      CLIENT,
    ),
    tokens: histogram(
      'gen_ai_client_token_usage',
      'Tokens of a call, as its endpoint counted them.',
      TOKEN_BUCKETS,
      [...CLIENT, 'gen_ai_token_type'],
    ),
    groups: histogram(
      'residency_ledger_group_records',
      'Records of one commit of the audit log.',
      GROUP_BUCKETS,
    ),
    lost: counter('residency_ledger_lost_records_total', 'Records that could not be kept.', ['kind']),
    queued: gauge('residency_ledger_queued_records', 'Records that wait for their commit.'),
    failing: gauge(
      'residency_ledger_failing',
      '1 while the audit log cannot be written: nothing is forwarded.',
    ),
    logRecords: gauge(
      'residency_log_records',
      'Records of the audit log that have reached a state: recorded (durable), sequenced (have their place), published (under a checkpoint), witnessed (under one that enough witnesses cosigned).',
      ['state'],
    ),
    checkpointAge: gauge(
      'residency_log_checkpoint_age_seconds',
      'Since the newest checkpoint was signed. There is one for every full hour, and within a minute of a record.',
    ),
    overdue: gauge(
      'residency_log_overdue_pendings',
      'Calls that are announced in the log and have no end there, although they are past their time.',
    ),
    broken: gauge(
      'residency_log_broken',
      '1 where the log is not what was signed: nothing is forwarded until a person has put it right.',
    ),
    underWay: gauge('residency_calls_under_way', 'Model calls that have been let in and have not ended.'),
  };
}

export type Instruments = ReturnType<typeof instruments>;
