import type { ToolSchema } from '../../trajectory/trajectory.js';
import { AIRLINE_SCHEMAS } from './airline/schemas.js';
import type { DomainName } from './data.js';
import { MOCK_SCHEMAS, MOCK_USER_SCHEMAS } from './mock/schemas.js';
import { RETAIL_SCHEMAS } from './retail/schemas.js';
import { TELECOM_SCHEMAS, TELECOM_USER_SCHEMAS } from './telecom/schemas.js';
import { schema } from './tool-schema.js';

export const AGENT_SCHEMAS: { readonly [domain in DomainName]: readonly ToolSchema[] } = {
  airline: AIRLINE_SCHEMAS,
  retail: RETAIL_SCHEMAS,
  telecom: TELECOM_SCHEMAS,
  mock: MOCK_SCHEMAS,
};

export const USER_SCHEMAS: { readonly [domain in DomainName]: readonly ToolSchema[] } = {
  airline: [],
  retail: [],
  telecom: TELECOM_USER_SCHEMAS,
  mock: MOCK_USER_SCHEMAS,
};

/** What an agent that works alone calls when it is done. */
export const DONE = schema('done', 'Say that the ticket is dealt with. Nothing comes after it.');
