import { type Functions, Toolkit } from '../toolkit.js';
import { searchNetwork, statusBar } from './phone.js';
import { userApps } from './user-apps.js';
import { userAssertions } from './user-assertions.js';
import { userConnections } from './user-connections.js';
import type { Phone, Surroundings, VpnDetails } from './user-models.js';
import { userNetwork } from './user-network.js';

/** The telecom customer's tools: what can be looked at and touched on the phone. */
export class TelecomUserTools extends Toolkit {
  override readonly name = 'TelecomUserTools';
  override readonly functions = FUNCTIONS as Functions<never>;

  /**
   * Kept: one object that every connection shares, so that a broken connection stays slow when it is connected
   * again. In the benchmark it is shared by all environments of a process; here, of one.
   */
  readonly defaultVpn: VpnDetails = {
    server_address: '192.168.1.1',
    protocol: 'OpenVPN',
    server_performance: 'excellent',
  };

  get device(): Phone {
    return this.part('device');
  }
  get surroundings(): Surroundings {
    return this.part('surroundings');
  }

  search(): void {
    searchNetwork(this.device, this.surroundings);
  }

  /** A report with the status bar under it. */
  withStatus(report: string): string {
    return `${report}\nStatus Bar: ${statusBar(this.device)}`;
  }
}

const FUNCTIONS: Functions<TelecomUserTools> = {
  ...userNetwork,
  ...userConnections,
  ...userApps,
  ...userAssertions,
};
