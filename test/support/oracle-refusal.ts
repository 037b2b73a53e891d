/** How the oracle says no: one class of rule, as the refusals of the service group them, and the reason for a human reader. */
import { FAIL_ID, FAIL_JSON, FAIL_PAYLOAD, FAIL_PROTOBUF } from '../../src/pdata/layout.ts';

export const RULES = { protobuf: FAIL_PROTOBUF, json: FAIL_JSON, id: FAIL_ID, payload: FAIL_PAYLOAD } as const;
export type Rule = keyof typeof RULES;

export class OracleRefusal extends Error {
  readonly rule: Rule;

  constructor(rule: Rule, reason: string) {
    super(reason);
    this.rule = rule;
  }
}
