import { Command } from 'commander';
import { toMend } from '../config/to-mend.ts';
import type { StackFile } from '../control/stack-file.ts';
import { typedCommand } from '../typed-command.ts';
import { UsageFault } from '../usage-fault.ts';

interface StartOptions {
  readonly data: string;
  readonly port: string;
  readonly origin?: readonly string[];
}

/** `residency start`: the whole stack on this machine, until Ctrl-C. */
export const command = (): Command =>
  new Command('start')
    .description('Runs the edge, an origin for each zone and stand-in endpoints, and prints calls to paste.')
    .option('--data <dir>', 'folder for keys, databases and logs', 'data')
    .option('--port <port>', 'port of the edge; 0 takes any free one', '8787')
    .option('--origin <file...>', 'run these origin configurations instead of the built-in ones')
    .action(start);

async function start({ data, port: portText, origin: origins = [] }: StartOptions): Promise<void> {
  const port = Number(portText);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageFault('--port takes 0 to 65535');
  // A production image leaves `dev` out, so it is loaded only here.
  const { launch } = await import('../dev/launch.ts');
  const stack = await launch({ data, port, origins });
  // The runtime of the edge ends the process at once on a signal; here calls under way may end first.
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
  const signalled = new Promise<void>((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  const mending = [...stack.origins].flatMap(([zone, { config }]) => {
    const words = toMend(config);
    return words === undefined ? [] : [`Origin ${zone} has ${words}`];
  });
  process.stdout.write(greeting(stack.file, data, mending));
  await signalled;
  process.stdout.write('\nStopping; calls that are running may end first.\n');
  await stack.stop();
  process.exit(0);
}

function greeting({ edge, origins, tenants, providers }: StackFile, data: string, mending: string[]): string {
  const callable = tenants.filter(({ key }) => key !== undefined);
  const [first] = callable;
  const lines = [
    `The gateway listens on ${edge}`,
    ...Object.entries(origins).map(([zone, { url, admin }]) => `  origin ${zone}   ${url}   admin ${admin}`),
    '',
    'Tenants:',
    ...tenants.map(
      ({ id, jurisdiction, key }) => `  ${id}   ${jurisdiction}   ${key ?? '(its key is yours)'}`,
    ),
  ];
  const [any] = tenants;
  if (first !== undefined && Object.keys(providers).length > 0) lines.push('', ...calls(edge, callable));
  else if (any !== undefined)
    lines.push(
      '',
      'A call; put your key and a workload of yours into it:',
      call(edge, any.jurisdiction, '<your key>'),
    );
  const where = data === 'data' ? [] : ['--data', data];
  lines.push(
    '',
    `Records: ${typedCommand('audit', 'tail', ...where)}`,
    `Endpoints: ${typedCommand('endpoints', ...where)}`,
    ...mending,
    'Ctrl-C stops everything.',
    '',
  );
  return lines.join('\n');
}

const CHAT = '{"model":"support-chat","messages":[{"role":"user","content":"Where is my parcel?"}]}';

const call = (edge: string, zone: string, key: string): string =>
  `curl -i ${edge}/v1/chat/completions -H 'x-jurisdiction: ${zone}' -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${CHAT}'`;

function calls(edge: string, tenants: StackFile['tenants']): string[] {
  const [first, second] = tenants;
  if (first === undefined) return [];
  const message =
    '{"model":"support-chat","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"Where is my parcel?"}]}';
  return [
    'A chat in each zone (OpenAI API):',
    ...tenants.map(({ jurisdiction, key = '' }) => call(edge, jurisdiction, key)),
    '',
    'A stream (Anthropic API):',
    `curl -iN ${edge}/v1/messages -H 'x-jurisdiction: ${first.jurisdiction}' -H 'x-api-key: ${first.key}' -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' -d '${message}'`,
    '',
    'Refused: the tenant is of another zone than the call asks for.',
    call(edge, second?.jurisdiction ?? 'us', first.key ?? ''),
  ];
}
