/** The category of a span: an icon of one letter and a short word, so that colour is never alone. */
import type { JSX } from 'preact';

const SHORT: Readonly<Record<string, readonly [string, string]>> = {
  model_call: ['model', 'model'],
  tool_step: ['tool', 'tool'],
  retrieval: ['retr', 'retrieval'],
  embedding: ['embed', 'embedding'],
  agent: ['agent', 'agent'],
  workflow: ['flow', 'workflow'],
  reranker: ['rerank', 'retrieval'],
  guardrail: ['guard', 'guardrail'],
  evaluation: ['eval', 'guardrail'],
  evaluator: ['eval', 'guardrail'],
};

export const hueOf = (category: string | null): string => SHORT[category ?? '']?.[1] ?? 'other';

export function Category({ category }: { category: string | null }): JSX.Element | null {
  if (category === null) return <span class="category none" />;
  const [text] = SHORT[category] ?? [category.slice(0, 8)];
  return (
    <span class={`category hue-${hueOf(category)}`} title={category}>
      {text}
    </span>
  );
}
