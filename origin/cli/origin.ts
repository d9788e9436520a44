import { Command } from 'commander';
import { loadConfig } from '../config.ts';
import { startOrigin } from '../main.ts';
import { UsageFault } from '../usage-fault.ts';

/** `residency origin`: runs one origin until it is told to stop. */
export const command = (): Command =>
  new Command('origin')
    .requiredOption('--config <file>', 'configuration of this origin (YAML)')
    .action(async ({ config: file }: { config: string }) => {
      const config = loadConfig(file, process.env);
      if (!config.ok)
        throw new UsageFault(config.error.map(({ path, message }) => `${path}: ${message}`).join('\n'));
      const origin = await startOrigin(config.value);
      let stopping = false;
      const stop = () => {
        if (stopping) return;
        stopping = true;
        origin.close().then(
          () => process.exit(0),
          () => process.exit(1),
        );
      };
      process.on('SIGTERM', stop).on('SIGINT', stop);
      if (process.send === undefined) return;
      // Started by the local stack: tell it where this origin listens, and do not outlive it.
      process.on('disconnect', stop);
      process.send({ url: origin.url, admin: origin.admin });
    });
