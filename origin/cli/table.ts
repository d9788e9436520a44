/** Rows as aligned columns, the heading first. Texts of callers and operators come without what moves a cursor. */
export function tableText(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows].map((row) => row.map(printable));
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

const printable = (cell: string): string => cell.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
