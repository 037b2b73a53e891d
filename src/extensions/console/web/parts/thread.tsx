/** Model calls and tool steps in order, as one conversation. Each call shows only its new messages. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { StepRow } from '../../api/shapes/steps.ts';
import type { Message } from '../../../../messages/message.ts';
import { readRecord } from '../../../../messages/read-record.ts';
import { pageHref } from '../state/location.ts';
import { cost, plural, tokensOf, took } from '../text/figures.ts';
import { visible } from '../text/visible.ts';
import { Button, Link, Name } from './basics.tsx';
import { Category } from './category.tsx';
import { Messages } from './messages.tsx';

interface Reading {
  readonly step: StepRow;
  /** The messages that earlier steps showed. */
  readonly earlier: readonly Message[];
  readonly fresh: readonly Message[];
  readonly isCut: boolean;
}

export function Thread({ steps }: { steps: readonly StepRow[] }): JSX.Element {
  const readings = useMemo(() => read(steps), [steps]);
  return (
    <div class="thread">
      {readings.map((reading, index) => (
        <Step key={`${reading.step.span_id ?? index}.${reading.step.start_time_unix_nano}`} reading={reading} />
      ))}
    </div>
  );
}

/** A message that an earlier step of the thread showed, at the beginning of the input, is not shown again. */
function read(steps: readonly StepRow[]): readonly Reading[] {
  let before: readonly string[] = [];
  return steps.map((step) => {
    const messages = messagesOf(step);
    const keys = messages.map((message) => JSON.stringify([message.role, message.parts]));
    let shared = 0;
    if (step.category === 'model_call') {
      while (shared < keys.length && keys[shared] === before[shared]) shared += 1;
      before = keys;
    }
    const isCut = Object.values(step.content ?? {}).some(({ cut }) => cut);
    return { step, earlier: messages.slice(0, shared), fresh: messages.slice(shared), isCut };
  });
}

function messagesOf(step: StepRow): readonly Message[] {
  const texts = Object.fromEntries(Object.entries(step.content ?? {}).map(([field, { text }]) => [field, text]));
  const row = { ...texts, tool_name: step.tool_name, tool_call_id: step.tool_call_id };
  return readRecord(row).flatMap(({ messages }) => messages);
}

function Step({ reading }: { reading: Reading }): JSX.Element {
  const { step, earlier, fresh, isCut } = reading;
  const [showsAll, setShowsAll] = useState(false);
  // Null: a log record outside of a span.
  const href =
    step.trace_id === null || step.span_id === null ? null : `${pageHref('traces', step.trace_id)}#s=${step.span_id}`;
  return (
    <section class={`step ${step.error ? 'bad-row' : ''}`} aria-label={visible(step.name)}>
      <header class="step-head">
        <Category category={step.category} />
        {href === null ? (
          <Name text={step.name} />
        ) : (
          <Link href={href}>
            <Name text={step.name} />
          </Link>
        )}
        {step.model === null || step.name.includes(step.model) ? null : (
          <span class="muted">
            <Name text={step.model} />
          </span>
        )}
        {step.error ? <strong class="bad-text">{visible(step.error_type ?? 'error')}</strong> : null}
        <span class="stretch" />
        <span class="muted">
          {step.input_tokens === null && step.output_tokens === null ? '' : `${tokensOf(step)} · `}
          {step.total_cost === null || !step.counts ? '' : `${cost(step.total_cost)} · `}
          {took(step.duration_ns)}
        </span>
      </header>
      {earlier.length === 0 ? null : (
        <Button kind="quiet" expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
          {plural(earlier.length, 'earlier message')}
        </Button>
      )}
      {showsAll ? <Messages messages={earlier} /> : null}
      {fresh.length === 0 && step.content !== undefined ? (
        <p class="muted">no content</p>
      ) : (
        <Messages messages={fresh} />
      )}
      {isCut ? (
        <p class="muted">
          The content is cut. {href === null ? null : <Link href={href}>The span has all of it.</Link>}
        </p>
      ) : null}
    </section>
  );
}
