import type { Analyst } from '../../contract.js';
import { authorEnvironment, repairEnvironment } from './author.js';

/** The offline analyst's share of step 2: environments from archetypes that fill themselves from the target. */
export const offlineAuthor: Pick<Analyst, 'name' | 'author' | 'repair'> = {
  name: 'offline',
  author: async (capability, context) => authorEnvironment(capability, context),
  repair: async (environment, findings) => repairEnvironment(environment, findings),
};
