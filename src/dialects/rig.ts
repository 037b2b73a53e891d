/** Rig for Rust. Its spans come from a tracer of the application and name their Rust module. */
import type { Dialect } from './dialect.ts';

export const RIG: Dialect = {
  id: 'rig',
  markers: [
    'target=rig::agent_chat',
    'target=rig::agent::prompt_request',
    'target=rig::agent::prompt_request::streaming',
    'target=rig::completions',
    'target=rig::responses',
    'target=rig::streaming',
    'target=rig::embedding',
  ],
  // Each call has a span, in a trace of its own where the application has no span around the agent.
  repeatedUsage: ['invoke_agent'],
  sources: ['0xPlaygrounds/rig: rig-core 0.36, recorded'],
};
