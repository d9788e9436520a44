const write = async (): Promise<void> => undefined;

export function lose(): void {
  write();
  [1].forEach(async () => write());
}
