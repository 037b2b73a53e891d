/** The columns that identify a call and need more than one attribute: provider, agent, tool, conversation, user. */
import * as layout from '../../pdata/layout.ts';
import { CATEGORIES } from '../../pdata/columns.ts';
import { FRAMEWORK, NO_PROVIDER, UNKNOWN_PROVIDER } from './provider-names.ts';
import { isBlank } from './reader.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber, operationNumber } from './rules.ts';
import { fillName, MAX_STORED_NAME_BYTES, nameOf, setName, setNameRow, setWord } from './slots.ts';

const AGENT_NAME = fieldNumber('agent_name');
const TOOL_NAME = fieldNumber('tool_name');
const AGENT = CATEGORIES.indexOf('agent');
const TOOL_STEP = CATEGORIES.indexOf('tool_step');
const CONVERSATION_ID = fieldNumber('conversation_id');
const USER_ID = fieldNumber('user_id');
const PROVIDER = fieldNumber('provider');
const REQUEST_MODEL = fieldNumber('request_model');
const RESPONSE_MODEL = fieldNumber('response_model');
/** Attributes that hold a host instead of a provider's name. */
const HOST = 'server.address';
const NAMESPACE = 'az.namespace';

export function fillIdentity(view: RecordView): void {
  if (!fillName(view, AGENT_NAME, layout.SLOT_AGENT_NAME) && view.category === AGENT)
    nameBySpan(view, layout.SLOT_AGENT_NAME);
  if (!fillName(view, TOOL_NAME, layout.SLOT_TOOL_NAME) && view.category === TOOL_STEP)
    nameBySpan(view, layout.SLOT_TOOL_NAME);
  fillProvider(view);
}

export function fillPersons(view: RecordView): void {
  fillName(view, CONVERSATION_ID, layout.SLOT_CONVERSATION_ID);
  fillName(view, USER_ID, layout.SLOT_USER_ID);
}

/** Some senders give the name of a tool or an agent in the span name only. */
function nameBySpan(view: RecordView, slot: number): void {
  const { lookups, dialect, operation, batch, record } = view;
  const named = lookups.dialects[dialect]?.namedBySpan?.some((name) => operationNumber(name) === operation);
  if (named !== true) return;
  const { nameOffset, nameLength, nameFlags } = batch.records.goto(record);
  const name = nameLength === 0 ? '' : batch.tables.head(nameOffset, nameLength, nameFlags);
  if (isBlank(name)) return;
  if (nameLength <= MAX_STORED_NAME_BYTES) batch.derived.setText(slot, nameOffset, nameLength, nameFlags);
  else setName(view, slot, name);
}

function fillProvider(view: RecordView): void {
  const { fields, lookups, reader } = view;
  let framework = false;
  for (let index = 0; index < fields.countOf(PROVIDER); index++) {
    const rule = fields.ruleAt(PROVIDER, index);
    const row = fields.rowAt(PROVIDER, index);
    if (!view.applies(rule) || rule.attribute === NAMESPACE) continue;
    const whole = rule.paths === null && rule.before === null;
    if (whole && !reader.isText(row)) continue;
    const name = whole ? null : nameOf(view, rule, row);
    if (!whole && name === null) continue;
    const provider = name === null ? providerAt(view, rule.attribute, row) : lookups.providers.ofString(name);
    if (provider === FRAMEWORK) framework = true;
    else if (provider === UNKNOWN_PROVIDER) {
      // An instrumentation that names itself in place of the provider.
      if ((name ?? reader.text(row)) === lookups.detection.scopeName) {
        framework = true;
        continue;
      }
      if (name === null) setNameRow(view, layout.SLOT_PROVIDER, row);
      else setName(view, layout.SLOT_PROVIDER, name);
      return;
    } else if (provider !== NO_PROVIDER) {
      setProvider(view, provider);
      return;
    }
  }
  if (framework) setProvider(view, providerOfModel(view));
}

function providerAt(view: RecordView, attribute: string, row: number): number {
  const { reader, lookups, batch } = view;
  if (attribute === HOST) return lookups.providers.ofHost(reader.text(row) ?? '');
  const { kind, offset, length } = reader.at(row);
  if (kind !== layout.KIND_TEXT) return NO_PROVIDER;
  const found = lookups.providers.ofText(batch.tables.memory, offset, length);
  if (found !== UNKNOWN_PROVIDER) return found;
  const text = reader.text(row) ?? '';
  const provider = lookups.providers.ofString(text);
  // LiveKit names the host of the provider.
  return provider === UNKNOWN_PROVIDER ? lookups.providers.ofHost(text) || UNKNOWN_PROVIDER : provider;
}

/** For a sender that named a framework: some model names belong to one vendor only. */
function providerOfModel(view: RecordView): number {
  const { fields, lookups, reader } = view;
  for (const field of [RESPONSE_MODEL, REQUEST_MODEL]) {
    for (let index = 0; index < fields.countOf(field); index++) {
      const rule = fields.ruleAt(field, index);
      const row = fields.rowAt(field, index);
      const model = rule.paths === null && !reader.isText(row) ? null : nameOf(view, rule, row);
      const provider = model === null ? NO_PROVIDER : lookups.providers.ofModel(model);
      if (provider !== NO_PROVIDER) return provider;
    }
  }
  return NO_PROVIDER;
}

function setProvider(view: RecordView, provider: number): void {
  if (provider === NO_PROVIDER) return;
  view.provider = provider;
  setWord(view, layout.SLOT_PROVIDER, view.lookups.providers.textOf(provider));
}
