/** A refusal of the oracle: the class of rule, as in the refusals of the service, and the reason as text. */
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
