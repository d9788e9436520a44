import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundaryOf, scanForm } from '../../../origin/admit/multipart.ts';
import { readWorkload } from '../../../origin/admit/workload.ts';

const OWN = 'own-whisper-20260101';

interface PartSpec {
  readonly headers: string;
  readonly content: Buffer | string;
}

const field = (name: string, content: string): PartSpec => ({
  headers: `content-disposition: form-data; name="${name}"`,
  content,
});

const file = (name: string, content: Buffer | string): PartSpec => ({
  headers: `Content-Disposition: form-data; name="${name}"; filename="call.wav"\r\nContent-Type: audio/wav`,
  content,
});

const formOf = (boundary: string, parts: readonly PartSpec[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ headers, content }) => [
      Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const read = (body: Buffer, named?: string, contentType = 'multipart/form-data; boundary=B') =>
  readWorkload('multipart', contentType, body, named);

const modelsIn = (body: Buffer, boundary = 'B') => {
  const form = scanForm(body, boundary);
  return form.kind === 'form' ? form.fields.map(({ value }) => value) : form.why;
};

const audio = Buffer.from(Array.from({ length: 2_048 }, (_, index) => (index * 7) % 256));

describe('a form on its way to an endpoint', () => {
  it('keeps every byte but the value of its model, for any fields and files in any order', async () => {
    const names = fc.stringMatching(/^[a-z_[\]]{1,12}$/).filter((name) => name !== 'model');
    const parts = fc.array(
      fc.record({ name: names, content: fc.uint8Array({ maxLength: 200 }), isFile: fc.boolean() }),
      { maxLength: 5 },
    );
    const boundaries = fc.stringMatching(/^[0-9A-Za-z'()+_,\-./:=?]{16,70}$/);
    await fc.assert(
      fc.asyncProperty(parts, boundaries, fc.nat(), async (list, boundary, place) => {
        const others = list.map(
          ({ name, content, isFile }): PartSpec => ({
            headers: `content-disposition: form-data; name="${name}"${isFile ? '; filename="f"' : ''}`,
            content: Buffer.from(content),
          }),
        );
        const form = (model: string) =>
          formOf(boundary, others.toSpliced(place % (others.length + 1), 0, field('model', model)));
        const body = await read(form('whisper'), undefined, `multipart/form-data; boundary="${boundary}"`);
        expect(body.ok && body.value.workload).toBe('whisper');
        expect(body.ok && body.value.withModel(OWN).equals(form(OWN))).toBe(true);
      }),
    );
  });

  it('gets the model put before its first part where only x-workload names it', async () => {
    const parts = [field('language', 'en'), file('file', audio)];
    const body = await read(formOf('B', parts), 'whisper');
    expect(body.ok && body.value.withModel(OWN).equals(formOf('B', [field('model', OWN), ...parts]))).toBe(
      true,
    );
  });

  it('takes a file called model for a file', () => {
    const parts = [file('model', 'a-file'), field('model', 'whisper')];
    expect(modelsIn(formOf('B', parts))).toEqual(['whisper']);
    expect(modelsIn(formOf('B', [file('model', 'a-file')]))).toEqual([]);
  });

  it('is read as the platform itself reads it', async () => {
    const form = new FormData();
    form.set('file', new File([audio], 'ca"ll\r\n.wav'));
    form.set('model', 'whisper');
    form.set('prompt', '--B\r\ncontent-disposition: form-data; name="model"\r\n\r\nother');
    const request = new Request('http://local', { method: 'POST', body: form });
    const bytes = Buffer.from(await request.clone().arrayBuffer());
    const body = await read(bytes, undefined, request.headers.get('content-type') ?? '');
    if (!body.ok) throw new Error(body.error.code);
    const sent = await new Response(new Uint8Array(body.value.withModel(OWN)), {
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
    }).formData();
    expect([body.value.workload, sent.get('model')]).toEqual(['whisper', OWN]);
    expect([sent.get('prompt')]).toEqual([form.get('prompt')]);
    const received = sent.get('file');
    expect(received instanceof File && Buffer.from(await received.arrayBuffer()).equals(audio)).toBe(true);
  });
});

describe('a form that two readers could take apart in two ways is refused', () => {
  const whole = formOf('B', [field('model', 'whisper'), file('file', audio)]);
  const plain = whole.toString('latin1');
  const hidden = 'content-disposition: form-data; name="model"\r\n\r\nother';
  const inFile = (content: string) => formOf('B', [field('model', 'whisper'), file('file', content)]);
  const withHeaders = (headers: string) => formOf('B', [{ headers, content: 'other' }, file('file', 'x')]);

  it.each<[string, Buffer]>([
    ['no boundary at all', Buffer.from('model=whisper')],
    ['text before the first boundary', Buffer.from(`preamble\r\n${plain}`, 'latin1')],
    ['a part behind the closing boundary', Buffer.from(`${plain}--B\r\n${hidden}\r\n--B--\r\n`, 'latin1')],
    ['no closing boundary', whole.subarray(0, -6)],
    ['a boundary behind a bare line feed', inFile(`sound\n--B\n${hidden}`)],
    ['a boundary behind a bare carriage return', inFile(`sound\r--B\r${hidden}`)],
    ['a boundary inside a line', inFile(`sound--B\r\n${hidden}`)],
    ['a longer word that begins like the boundary', inFile(`x\r\n--Bx\r\n${hidden}`)],
    ['padding behind a boundary', inFile(`x\r\n--B \r\n${hidden}`)],
    ['a folded header', withHeaders('content-disposition: form-data;\r\n name="model"')],
    [
      'two dispositions',
      withHeaders('content-disposition: form-data; name="a"\r\ncontent-disposition: form-data; name="model"'),
    ],
    ['two names', withHeaders('content-disposition: form-data; name="a"; name="model"')],
    ['an extended name', withHeaders('content-disposition: form-data; name*=utf-8\'\'model; name="a"')],
    ['an escaped name', withHeaders('content-disposition: form-data; name="mod\\el"')],
    ['a name that does not end', withHeaders('content-disposition: form-data; name="model')],
    ['a header line that is none', withHeaders('content-disposition : form-data; name="model"')],
    ['a bare line feed in a header', withHeaders('x: y\ncontent-disposition: form-data; name="model"')],
    ['another disposition', withHeaders('content-disposition: attachment; name="model"')],
    ['no headers', Buffer.from('--B\r\n\r\nother\r\n--B--\r\n')],
    ['headers without end', Buffer.from(`--B\r\n${'x: y\r\n'.repeat(2_000)}\r\nother\r\n--B--\r\n`)],
    [
      'more parts than a form has',
      formOf(
        'B',
        Array.from({ length: 129 }, () => field('a', '1')),
      ),
    ],
  ])('%s', async (_, body) => {
    expect(scanForm(body, 'B').kind).toBe('invalid');
    expect(await read(body, 'whisper')).toMatchObject({ ok: false, error: { code: 'body_invalid' } });
  });

  it.each([
    ['two models', formOf('B', [field('model', 'whisper'), field('model', 'whisper')])],
    [
      'two models, one of them in capitals',
      formOf('B', [field('model', 'whisper'), field('MODEL', 'other')]),
    ],
  ])('%s', async (_, body) => {
    expect(await read(body, 'whisper')).toMatchObject({
      ok: false,
      error: { code: 'body_invalid', param: 'model' },
    });
  });

  it.each([
    'application/json',
    'multipart/form-data',
    'multipart/form-datax; boundary=B',
    'multipart/mixed; boundary=B',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary=B; boundary=C',
    'multipart/form-data; boundary=C; BOUNDARY=B',
    'multipart/form-data; boundary*=B; boundary=C',
    'multipart/form-data; x="; boundary=C"; y=; boundary=B',
    'multipart/form-data; boundary="B\\C"',
    'multipart/form-data; boundary="B ',
    'multipart/form-data; boundary="B "',
    'multipart/form-data; boundary=B, multipart/form-data; boundary=C',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])('a content type %s', async (contentType) => {
    expect(boundaryOf(contentType)).toBeUndefined();
    expect(await read(whole, 'whisper', contentType)).toMatchObject({
      ok: false,
      error: { code: 'body_invalid' },
    });
  });

  it('but a quoted boundary, other parameters and capitals are fine', () => {
    expect(boundaryOf('Multipart/Form-Data; charset=utf-8; Boundary="a b:c"')).toBe('a b:c');
    expect(boundaryOf('multipart/form-data; x="; boundary=C"; boundary=B')).toBe('B');
    expect(boundaryOf('multipart/form-data;boundary=----WebKitFormBoundary7MA4YWxk;')).toBe(
      '----WebKitFormBoundary7MA4YWxk',
    );
  });

  it('and nothing of it is quoted in the refusal', async () => {
    const forms = [
      formOf('B', [field('model', 'MARKER'), field('model', 'MARKER')]),
      withHeaders('content-disposition: form-data; name="MARKER'),
      formOf('B', [field('model', 'MARKER MARKER')]),
    ];
    for (const form of forms) expect(JSON.stringify(await read(form))).not.toContain('MARKER');
  });
});
