import { absolute, addInPlace, compare, fixed2, multiply, subtract } from '../python/numbers.js';
import { equal, type Float, numeric, str, valueError } from '../python/value.js';
import { type Functions, parameters, type ToolFunction } from '../toolkit.js';
import { chargeOnce } from './billing.js';
import type { Line } from './models.js';
import type { TelecomTools } from './toolkit.js';

/** Tools about lines: suspension, roaming and data. */

type Tool = ToolFunction<TelecomTools>;

/** The benchmark's today. */
export const TODAY = '2025-02-25';
/** Last day of the billing cycle that today is in. */
const CYCLE_END = '2025-02-28';

const OWNED = parameters('customer_id', 'line_id');

const suspendLine: Tool = {
  type: 'write',
  parameters: parameters('customer_id', 'line_id', 'reason'),
  run(kit, customerId, lineId) {
    const line = kit.lineOf(customerId, lineId);
    if (line.status !== 'Active') throw valueError('Line must be active to suspend');
    line.status = 'Suspended';
    line.suspension_start_date = TODAY;
    return new Map<string, unknown>([
      ['message', 'Line suspended successfully. $5/month holding fee will apply.'],
      ['line', line],
    ]);
  },
};

const resumeLine: Tool = {
  type: 'write',
  parameters: OWNED,
  run(kit, customerId, lineId) {
    const line = kit.lineOf(customerId, lineId);
    if (line.status !== 'Suspended' && line.status !== 'Pending Activation')
      throw valueError('Line must be suspended to resume');
    line.status = 'Active';
    line.suspension_start_date = null;
    return new Map<string, unknown>([
      ['message', 'Line resumed successfully'],
      ['line', line],
    ]);
  },
};

const roaming = (enabled: boolean): Tool => ({
  type: 'write',
  parameters: OWNED,
  run(kit, customerId, lineId) {
    const line = kit.lineOf(customerId, lineId);
    const state = enabled ? 'enabled' : 'disabled';
    if (line.roaming_enabled === enabled) return `Roaming was already ${state}`;
    line.roaming_enabled = enabled;
    return `Roaming ${state} successfully`;
  },
});

const getDataUsage: Tool = {
  type: 'read',
  parameters: OWNED,
  run(kit, customerId, lineId) {
    const line = kit.lineOf(customerId, lineId);
    const plan = kit.plan(line.plan_id);
    return new Map<string, unknown>([
      ['line_id', lineId],
      ['data_used_gb', line.data_used_gb],
      ['data_limit_gb', plan.data_limit_gb],
      ['data_refueling_gb', line.data_refueling_gb],
      ['cycle_end_date', CYCLE_END],
    ]);
  },
};

const setDataUsage: Tool = {
  parameters: parameters('customer_id', 'line_id', 'data_used_gb'),
  run(kit, customerId, lineId, used) {
    // Not validated: an int stays an int and changes the hash.
    kit.lineOf(customerId, lineId).data_used_gb = used as Float;
    return `Data usage set to ${str(used)} GB for line ${str(lineId)}`;
  },
};

const refuelData: Tool = {
  type: 'write',
  parameters: parameters('customer_id', 'line_id', 'gb_amount'),
  run(kit, customerId, lineId, amount) {
    const line = kit.lineOf(customerId, lineId);
    if (compare('<=', amount, 0)) throw valueError('Refuel amount must be positive');
    const price = kit.plan(line.plan_id).data_refueling_price_per_gb;
    const charge = multiply(amount, price);
    line.data_refueling_gb = addInPlace(line.data_refueling_gb, amount) as Float;
    const what = `Data refueling: ${str(amount)} GB at $${str(price)}/GB`;
    chargeOnce(kit, customerId, charge, what);
    return new Map<string, unknown>([
      [
        'message',
        `Successfully added ${str(amount)} GB of data for line ${str(lineId)} for ` +
          `$${fixed2(numeric(charge) as number)}`,
      ],
      ['new_data_refueling_gb', line.data_refueling_gb],
      ['charge', charge],
    ]);
  },
};

const assertRefueling: Tool = {
  parameters: parameters('customer_id', 'line_id', 'expected_amount'),
  run(kit, customerId, lineId, expected) {
    const difference = subtract(kit.lineOf(customerId, lineId).data_refueling_gb, expected);
    return (numeric(absolute(difference)) as number) < 1e-6;
  },
};

const assertLineStatus: Tool = {
  parameters: parameters('customer_id', 'line_id', 'expected_status'),
  run: (kit, customerId, lineId, expected) => equal(kit.lineOf(customerId, lineId).status, expected),
};

export const lines: Functions<TelecomTools> = {
  suspend_line: suspendLine,
  resume_line: resumeLine,
  get_data_usage: getDataUsage,
  set_data_usage: setDataUsage,
  enable_roaming: roaming(true),
  disable_roaming: roaming(false),
  refuel_data: refuelData,
  assert_data_refueling_amount: assertRefueling,
  assert_line_status: assertLineStatus,
};

/** Whether the line has used up its plan's data and what was added. */
export const dataExceeded = (kit: TelecomTools, line: Line): boolean =>
  compare('>=', line.data_used_gb, addInPlace(kit.plan(line.plan_id).data_limit_gb, line.data_refueling_gb));
