import type { Frame } from './answer.ts';
import type { Wire } from './fault.ts';

const NEWLINES = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/** One event as the bytes of a `text/event-stream` (HTML standard, section 9.2.5), in the ordered style. */
export function encodeFrame(frame: Frame, wire: Wire, first: boolean): Buffer {
  const newline = NEWLINES[wire.newline ?? 'lf'];
  const colon = wire.space === false ? ':' : ': ';
  const lines = [
    ...(wire.comments === true ? [': keep-alive', ''] : []),
    ...(frame.event === undefined ? [] : [`event${colon}${frame.event}`]),
    ...dataLines(frame.data, wire).map((line) => `data${colon}${line}`),
  ];
  const blank = frame.part === 'terminator' && wire.finalBlankLine === false ? '' : newline;
  const mark = first && wire.byteOrderMark === true ? '\uFEFF' : '';
  return Buffer.from(mark + lines.join(newline) + newline + blank);
}

/** JSON can be broken between its tokens; anything else only where it has line ends of its own. */
function dataLines(data: string, wire: Wire): string[] {
  return (wire.multiline === true ? spread(data) : data).split('\n');
}

function spread(data: string): string {
  try {
    return JSON.stringify(JSON.parse(data), null, 1);
  } catch {
    return data;
  }
}
