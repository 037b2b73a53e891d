/** The trace as JSON: the header and the rows of the timeline. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { TraceHeader } from '../../../api/shapes/traces.ts';
import { exactText } from '../../../../../pdata/exact-json.ts';
import type { Spans } from '../../data/spans.ts';
import { CopyButton } from '../../parts/basics.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';

export function JsonView({ header, spans }: { header: TraceHeader; spans: Spans }): JSX.Element {
  const value = useMemo(
    () => ({
      ...header,
      spans: spans.all.map(({ children: _, parent, missing, index: __, ...span }) => ({
        ...span,
        parent: parent?.id ?? missing,
      })),
    }),
    [header, spans],
  );
  return (
    <div class="scroll json-view" role="region" aria-label="JSON" tabIndex={0}>
      <CopyButton text={() => exactText(value, 2)} label="Copy JSON" />
      <JsonTree value={value} />
    </div>
  );
}
