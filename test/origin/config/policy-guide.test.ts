import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { type Checked, checkConfig } from '../../../origin/config.ts';
import { matrix } from '../../../origin/policy/matrix.ts';
import { matrixText } from '../../../origin/policy/matrix-text.ts';

const docs = fileURLToPath(new URL('../../../docs', import.meta.url));
const guide = readFileSync(join(docs, 'policies.md'), 'utf8');

interface Snippet {
  readonly section: string;
  readonly text: string;
}

const snippets: readonly Snippet[] = guide.split(/^## /m).flatMap((section) => {
  const [title = ''] = section.split('\n');
  return [...section.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({
    section: title,
    text,
  }));
});

/** The example as the guide says to change it by a snippet: whose parts name their files. */
function changed(snippet: string): Checked {
  const folder = mkdtempSync(join(tmpdir(), 'residency-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(docs, 'examples/production'), folder, { recursive: true });
  for (const part of snippet.split(/^(?=# \w+\.yaml$)/m)) {
    const file = join(folder, /^# (\w+\.yaml)$/m.exec(part)?.[1] ?? '');
    const base = parse(readFileSync(file, 'utf8'));
    const change = parse(part);
    const endpoints = [...(base.endpoints ?? []), ...(change.endpoints ?? [])];
    const merged = { ...base, ...change, ...(endpoints.length > 0 && { endpoints }) };
    writeFileSync(file, stringify(merged));
  }
  return checkConfig(join(folder, 'origin.yaml'), {});
}

describe('the guide to policies', () => {
  it.each(snippets)('has a snippet that is right: $section', ({ text }) => {
    const { faults, problems } = changed(text);
    expect([faults, problems]).toEqual([[], []]);
  });

  it.each([
    ['Packs', 0, /packs eu-gdpr-strict@.*, eu-ai-act-high-risk@/],
    ['Packs', 1, /1\. fra-bedrock.*\n$/],
    ['Workloads that are not pinned', 0, /NOT PINNED TO EU: READS PUBLISHED SOURCE CODE ONLY/],
    ["One tenant's contract", 0, /tenant acme +1\. fra-bedrock.*\n +never dub-bedrock/],
    ["One team's lock", 0, /tenant acme, team research +1\. dub-bedrock/],
    ['Evidence', 0, /1\. own-rack: customer-dc-1, DE/],
    ['Which region to write', 0, /2\. openai-eu: anywhere in eu \(deployment zone\)/],
  ])('shows what it says: %s, snippet %i', (section, index, shown) => {
    const { whole } = changed(snippets.filter((one) => one.section === section)[index]?.text ?? '');
    expect(whole && matrixText(matrix(whole))).toMatch(shown);
  });
});
