import type { Zone } from '../../shared/zones.ts';
import { type TenantRecord, tenantsFileSchema } from '../policy/tenants.ts';
import { typedCommand } from '../typed-command.ts';
import type { Fault } from './fault.ts';
import { readLeniently } from './lenient-file.ts';
import type { YamlFile } from './yaml-file.ts';

/**
 * The tenants that a file declares; what is wrong with them goes to `faults`.
 *
 * @param policies names of the origin's policies, or undefined where they are not all known
 */
export function readTenants(
  file: string,
  zone: Zone,
  policies: ReadonlySet<string> | undefined,
  faults: Fault[],
): ReadonlyMap<string, TenantRecord> {
  // A tenant is left out whole: without its lock it would seem to be another.
  const read = readLeniently(file, tenantsFileSchema, faults, (path) => path.slice(0, 2));
  if (read?.value === undefined) return new Map();
  const { yaml, value } = read;
  const tenants = Object.entries(value.tenants).map(([id, tenant]): TenantRecord => ({ id, ...tenant }));
  for (const tenant of tenants) faults.push(...tenantFaults(yaml, tenant, zone, policies));
  faults.push(...sharedKeys(yaml, tenants));
  return new Map(tenants.map((tenant) => [tenant.id, tenant]));
}

function tenantFaults(
  yaml: YamlFile,
  tenant: TenantRecord,
  zone: Zone,
  policies: ReadonlySet<string> | undefined,
): readonly Fault[] {
  const faults: Fault[] = [];
  const complain = (path: readonly PropertyKey[], message: string) =>
    faults.push({ path: yaml.at(['tenants', tenant.id, ...path]), message });
  if (tenant.jurisdiction !== zone) {
    complain(['jurisdiction'], `is ${tenant.jurisdiction}, this origin is ${zone}: declare the tenant there`);
  }
  if (policies && !policies.has(tenant.policy)) {
    const there = [...policies].join(', ');
    complain(['policy'], `no policy is called ${tenant.policy}; this origin has ${there}`);
  }
  for (const [index, key] of tenant.keys.entries()) {
    if (key.team !== undefined && !Object.hasOwn(tenant.teams, key.team)) {
      complain(['keys', index, 'team'], `the tenant has no team ${key.team}`);
    }
    if (isPlaceholder(key.sha256)) {
      const made = typedCommand('keygen', '--tenant', tenant.id);
      const message = `is a placeholder: "${made}" prints a key and the hash to put here`;
      faults.push({
        path: yaml.at(['tenants', tenant.id, 'keys', index, 'sha256']),
        message,
        toStart: true,
      });
    }
    if (tenant.keys.findIndex(({ id }) => id === key.id) < index) {
      complain(['keys', index, 'id'], `the tenant has the key id ${key.id} twice`);
    }
  }
  return faults;
}

/** As examples have it. */
const isPlaceholder = (sha256: string): boolean => /^0+$/.test(sha256);

/** A hash that stands for two keys would leave it open whose, and of which team, a call is. */
function sharedKeys(yaml: YamlFile, tenants: readonly TenantRecord[]): readonly Fault[] {
  const owners = new Map<string, string>();
  return tenants.flatMap(({ id, keys }) =>
    keys.flatMap(({ id: keyId, sha256 }, index) => {
      const owner = owners.get(sha256);
      owners.set(sha256, `${id}/${keyId}`);
      if (owner === undefined || isPlaceholder(sha256)) return [];
      return [
        {
          path: yaml.at(['tenants', id, 'keys', index, 'sha256']),
          message: `is the hash of the key ${owner} too: make a new key`,
        },
      ];
    }),
  );
}
