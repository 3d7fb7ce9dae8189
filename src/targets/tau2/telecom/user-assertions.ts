import { compare } from '../python/numbers.js';
import { asString, equal, Float, repr, valueError } from '../python/value.js';
import { type Functions, parameters, type ToolFunction } from '../toolkit.js';
import { canSendMms, measureSpeed, mobileDataWorks } from './phone.js';
import type { TelecomUserTools } from './user-toolkit.js';

/** What tasks ask about the phone's end state. */

const STATUSES = ['connected', 'searching', 'no_service', 'emergency_only'];

const expects = (look: (kit: TelecomUserTools) => unknown): ToolFunction<TelecomUserTools> => ({
  parameters: parameters('expected_status'),
  run: (kit, expected) => equal(look(kit), expected),
});

export const userAssertions: Functions<TelecomUserTools> = {
  assert_airplane_mode_status: expects((kit) => kit.device.airplane_mode),
  assert_service_status: {
    parameters: parameters('expected_status'),
    run(kit, expected) {
      if (!STATUSES.includes(expected as string))
        throw valueError(`${repr(expected)} is not a valid NetworkStatus`);
      return kit.device.network_connection_status === expected;
    },
  },
  assert_mobile_data_status: expects((kit) => mobileDataWorks(kit.device, kit.surroundings)),
  assert_mobile_roaming_status: expects((kit) => kit.device.roaming_enabled),
  assert_mobile_data_saver_mode_status: expects((kit) => kit.device.data_saver_mode),
  assert_internet_speed: {
    parameters: parameters('expected_speed', 'expected_desc=None'),
    run(kit, expected, description) {
      const speed = measureSpeed(kit.device, kit.surroundings);
      if (!compare('>=', new Float(speed.mbps ?? 0), expected)) return false;
      return (
        description === null ||
        speed.description.toLowerCase() === asString(description, 'lower').toLowerCase()
      );
    },
  },
  assert_internet_not_excellent: {
    parameters: [],
    run: (kit) => measureSpeed(kit.device, kit.surroundings).description !== 'Excellent',
  },
  assert_can_send_mms: expects((kit) => canSendMms(kit.device, kit.surroundings)),
  assert_mobile_data_usage_exceeded: expects((kit) => kit.surroundings.mobile_data_usage_exceeded),
};
