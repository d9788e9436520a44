import { cloudRegion } from '../../shared/catalogue.ts';
import { type Zone, zoneOfCountry } from '../../shared/zones.ts';
import type { Endpoint } from './endpoint.ts';

type Place = Pick<Endpoint, 'region' | 'country'>;

const known = ({ region }: Place) => (region === undefined ? undefined : cloudRegion(region));

/** The catalogue's word on the country of an endpoint, and the registry's only where that has none. */
export const countryOf = (place: Place): string | undefined => known(place)?.country ?? place.country;

/** Where an endpoint is, in words, if that is a country outside a zone; undefined where it is inside or unknown. */
export function abroad(place: Place, zone: Zone): string | undefined {
  const country = countryOf(place);
  if (country === undefined) return undefined;
  const actual = zoneOfCountry(country);
  if (actual === zone) return undefined;
  const row = known(place);
  const name = row ? `${row.city} (${row.region})` : (place.region ?? 'the endpoint');
  return `${name} is in ${country}, ${actual ? `zone ${actual}` : 'in no zone'}, not ${zone}`;
}
