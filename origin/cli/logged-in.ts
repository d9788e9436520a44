import { userInfo } from 'node:os';
import { UsageFault } from '../usage-fault.ts';

/** The name that whoever gives an order is logged in with. */
export function loggedIn(): string {
  try {
    return userInfo().username;
  } catch {
    throw new UsageFault('say who gives the order, with --by NAME');
  }
}
