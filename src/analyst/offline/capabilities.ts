import type { Capability } from '../contract.js';

/**
 * What the programmatic detectors can tell apart, in general words. The order is the one in which candidates with
 * equally many cases are listed.
 */
export const OFFLINE_CAPABILITIES = {
  structured_data_reasoning:
    'Choosing the right entry among several that a tool result lists, by comparing their attributes with what is wanted. It is lacking when a call names another listed entry (record, option, variant) than the one that fits, although the right one stood in a result the agent had read.',
  tool_calling_precision:
    'Calling the right tool with exactly the right arguments: values that were stated by the user or stand in the record at hand are taken over unchanged, and none is left out, invented or miscalculated. It is lacking when the right operation is called with a wrong, missing or made-up argument value.',
  multi_step_task_completion:
    'Carrying out every operation that a request with several parts asks for, before ending the conversation. It is lacking when some of the required operations are done and others are never attempted.',
  precondition_verification:
    'Checking, before a change is made, whether the conditions for it hold, and declining or handing over when they do not. It is lacking when a change is carried out that the situation does not allow or that was not called for.',
  action_execution:
    'Carrying out the decisive operation once it is clear, with a tool call. It is lacking when the required operation is only discussed, promised or claimed, and the conversation ends without it.',
  escalation_judgment:
    'Telling apart what can be handled from what has to be refused or handed to someone else. It is lacking when a case that should be handled is handed over or refused, or when a case that belongs to someone else is kept.',
  information_gathering:
    'Reading the facts that an operation depends on before carrying it out. It is lacking when an argument is filled in although the source of its value had not been looked up, or when nothing is looked up at all and the user is asked for it instead.',
  information_reporting:
    'Telling the user the facts that were asked for, with the right values. It is lacking when all operations are as they should be, but a required fact is never said.',
  error_recovery:
    'Reading an error that a tool returns and finding another way to the goal. It is lacking when an operation is given up, or left undone, after an error that could be mended.',
  loop_avoidance:
    'Noticing that a step brings nothing new and changing course. It is lacking when the same call, or the same words, are repeated without change while nothing moves forward, or a change is carried out a second time.',
  well_formed_output:
    'Producing turns that can be read: tool calls with valid arguments, and no empty or broken messages. It is lacking when a turn cannot be parsed or ends the attempt for its form.',
} as const satisfies { readonly [name: string]: string };

export type OfflineCapability = keyof typeof OFFLINE_CAPABILITIES;

export const OFFLINE_NAMES = Object.keys(OFFLINE_CAPABILITIES) as OfflineCapability[];

export function offlineCapability(name: OfflineCapability): Capability {
  return { name, definition: OFFLINE_CAPABILITIES[name] };
}

export function isOfflineCapability(name: string): name is OfflineCapability {
  return name in OFFLINE_CAPABILITIES;
}
