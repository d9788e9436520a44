/** What an endpoint's status means for the call, decided from the number alone. */
export type StatusMeaning =
  | { readonly kind: 'accepted' }
  /** The endpoint's verdict on what the caller sent, which no other endpoint would change. */
  | { readonly kind: 'rejected' }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * 2xx is an answer; 4xx is a verdict on the request, except where it speaks of our credential (401, 402,
 * 403), of time (408) or of load (429); everything else is a failed attempt. A redirect is one too: its
 * target was never checked against the policy, so it is not followed.
 */
export function meaningOfStatus(status: number): StatusMeaning {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  switch (status) {
    case 401:
    case 402:
    case 403:
      return { kind: 'failed', why: `answered ${status}: the gateway's credential is not accepted there` };
    case 408:
      return { kind: 'failed', why: 'answered 408: it timed out' };
    case 429:
      return { kind: 'failed', why: 'answered 429: it is busy' };
  }
  if (status >= 400 && status < 500) return { kind: 'rejected' };
  if (status >= 300 && status < 400)
    return { kind: 'failed', why: `answered ${status}: a redirect, never followed` };
  return { kind: 'failed', why: `answered ${status}` };
}
