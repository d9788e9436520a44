/** There is no credential to call an endpoint with. The message is in our own words and may be shown. */
export class NoCredential extends Error {
  override readonly name = 'NoCredential';

  constructor(why: string) {
    super(`no credential: ${why}`);
  }
}
