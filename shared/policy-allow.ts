import { z } from 'zod';
import { REGION_SOURCES } from './record.ts';

/**
 * How an endpoint uses the regions of its provider: only the one it names, any of its zone, or any at all.
 * What is not `regional` runs where the provider likes, whatever its host name says.
 */
export const DEPLOYMENTS = ['regional', 'zone', 'global'] as const;
export type Deployment = (typeof DEPLOYMENTS)[number];

const country = z.string().regex(/^(?:[A-Z]{2}|EEA)$/, 'must be an ISO 3166 code such as DE, or EU or EEA');
const region = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be a region name such as eu-central-1');
const model = z.string().min(1).max(256);

const countries = z
  .array(country)
  .min(1)
  .meta({ description: 'Countries in which an endpoint may stand: ISO 3166 codes, or the sets EU and EEA.' });
const regions = z
  .array(region)
  .meta({ description: 'The only regions that may serve. Empty: every region of the countries.' });
const deployments = z.array(z.enum(DEPLOYMENTS)).min(1).meta({
  description:
    'regional: one region only. zone: the provider chooses a region of the zone. global is for workloads that are not pinned.',
});
const models = z.array(model).meta({
  description: 'Dated ids of the models approved for use, as the endpoints know them. Empty: every model.',
});
const regionEvidence = z.enum(REGION_SOURCES).meta({
  description:
    'The weakest grade of evidence of the serving region that will do; best first. An answer that shows less is withheld.',
});

/** Each list narrows where it is not empty; of countries at least one must be named. */
export const allowSchema = z.strictObject({
  countries,
  regions: regions.default([]),
  deployments: deployments.default(['regional']),
  models: models.default([]),
  region_evidence: regionEvidence.default('declared'),
});

/** An empty list would read as "none" to one person and as "no limit" to another. */
export const EMPTY = 'is empty: leave it out where it takes nothing away, or name what is left';

/** The same lists where each may be left out: what is not named takes nothing away. */
export const narrowingSchema = z.strictObject({
  countries: countries.exactOptional(),
  regions: z
    .array(region)
    .min(1, EMPTY)
    .meta({ description: 'The only regions that may serve. Left out: every one that is allowed otherwise.' })
    .exactOptional(),
  deployments: deployments.exactOptional(),
  models: z
    .array(model)
    .min(1, EMPTY)
    .meta({
      description:
        'Dated ids of the only models that may serve. Left out: every one that is allowed otherwise.',
    })
    .exactOptional(),
  region_evidence: regionEvidence.exactOptional(),
});

export type Allow = z.infer<typeof allowSchema>;
/** The narrowing lists of a tenant exception or a pack; what it does not name stays as the policy has it. */
export type Narrowing = z.infer<typeof narrowingSchema>;
