/** Why a record has no content: its environment may not store it, or the sender has sent none. */
import { normalizeEnvironment } from '../pdata/environment.ts';
import { type CaptureOptions, CaptureSettings } from '../processors/privacy/capture.ts';
import type { Reader } from './reader.ts';

export async function explainMissing(reader: Reader, project: string, environment: string): Promise<string> {
  return (await isCaptured(reader, project, environment))
    ? 'no content was sent'
    : `not captured in environment ${environment}`;
}

async function isCaptured(reader: Reader, project: string, environment: string): Promise<boolean> {
  const rows = await reader.query('SELECT environment, settings FROM sluice.environments WHERE project = $1', [
    project,
  ]);
  const stored = rows
    .filter((row) => normalizeEnvironment(String(row['environment'])) === environment)
    .map(({ settings }) => (settings as { readonly capture_content?: unknown } | null)?.capture_content);
  if (stored.includes(false)) return false;
  if (stored.includes(true)) return true;
  const processors = [...reader.config.processors.values()];
  const privacy = processors.find(({ definition }) => definition.type === 'privacy');
  if (privacy === undefined) return true;
  const settings = new CaptureSettings(privacy.options as CaptureOptions, `processors.${privacy.id}.environments`);
  return settings.captures({ name: project, plan: 'paid', monthlySpans: null, privacy: new Map() }, environment);
}
