#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { UsageFault } from '../usage-fault.ts';

/** Exit codes: the answer is no, and used wrongly. */
const NO = 1;
const WRONG_USE = 2;

/** The nouns, each loaded only when it is named. */
const NOUNS = {
  start: { summary: 'run the whole stack on this machine', load: () => import('./start.ts') },
  origin: { summary: 'run the origin of one zone', load: () => import('./origin.ts') },
  check: {
    summary: 'check a configuration and show who may be served where',
    load: () => import('./check.ts'),
  },
  keygen: { summary: 'make signing keys and gateway keys', load: () => import('./keygen.ts') },
  endpoints: {
    summary: 'show the health of the endpoints, and take one out or put it back',
    load: () => import('./endpoints.ts'),
  },
  gameday: {
    summary: 'rehearse an outage for one tenant, and report on it',
    load: () => import('./gameday.ts'),
  },
  audit: { summary: 'read the audit log of a zone', load: () => import('./audit.ts') },
  verify: {
    summary: 'verify a bundle, a receipt or a proof with a public key alone',
    load: () => import('./verify.ts'),
  },
} as const;

async function program(named: string | undefined): Promise<Command> {
  const residency = new Command('residency')
    .description('Keeps each model call inside its tenant’s jurisdiction, and proves it.')
    .exitOverride()
    .showHelpAfterError();
  for (const [name, noun] of Object.entries(NOUNS)) {
    const command = name === named ? (await noun.load()).command() : new Command(name);
    residency.addCommand(throwing(command.summary(noun.summary)));
  }
  return residency;
}

/** Commander would end the process with 1 where a command is used wrongly; the codes are decided below. */
function throwing(command: Command): Command {
  for (const sub of command.commands) throwing(sub);
  return command.exitOverride();
}

try {
  const [named] = process.argv.slice(2);
  await (await program(named)).parseAsync();
} catch (cause) {
  if (cause instanceof CommanderError) process.exitCode = cause.exitCode === 0 ? 0 : WRONG_USE;
  else if (cause instanceof UsageFault) {
    process.stderr.write(`residency: ${cause.message}\n`);
    process.exitCode = WRONG_USE;
  } else {
    process.stderr.write(`residency: ${cause instanceof Error ? cause.message : 'failed'}\n`);
    process.exitCode = NO;
  }
}
