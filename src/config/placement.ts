/** Refuses what several workers cannot share: components that run in a single process, and a ledger in memory. */
import { SECTION_NAMES } from './config.ts';
import { childOf, type Node } from './node.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { Defineds } from './sections.ts';

interface Parts {
  readonly defineds: Defineds;
  readonly diagnostics: Diagnostics;
  /** More than one. */
  readonly workers: number;
}

export function checkPlacement(service: Node, parts: Parts): void {
  const ledger = childOf(service, 'ledger');
  if (ledger?.kind === 'scalar' && (ledger.raw ?? ledger.value) === 'memory') {
    parts.diagnostics.error(
      ledger.origin,
      `each of ${parts.workers} workers would have a ledger of its own, and store again what another has stored`,
      'write ledger: postgres, or run a single process, without --workers',
    );
  }
  const pipelines = childOf(service, 'pipelines');
  const owners = [service, ...(pipelines?.kind === 'map' ? [...pipelines.entries.values()] : []).map(nodeOf)];
  for (const owner of owners) for (const section of SECTION_NAMES) checkList(childOf(owner, section), section, parts);
}

const nodeOf = ({ value }: { readonly value: Node }): Node => value;

function checkList(list: Node | undefined, section: (typeof SECTION_NAMES)[number], parts: Parts): void {
  if (list?.kind !== 'list') return;
  for (const item of list.items) {
    const id = item.raw ?? (item.kind === 'scalar' ? String(item.value ?? '') : '');
    const definition = parts.defineds[section].get(id)?.definition;
    if (definition?.placement !== 'single') continue;
    parts.diagnostics.error(
      item.origin,
      `the ${definition.kind} "${id}" works in one process, and there are ${parts.workers} workers`,
      'take it out, or run a single process, without --workers',
    );
  }
}
