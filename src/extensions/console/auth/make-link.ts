/** A link for a person by name, for the command line and the first start. */
import { COMMAND_LINE, type People, type PersonDraft } from '../../../component/capabilities/people.ts';
import { createSecret, LINK_LIFETIME_MS, linkOf } from './secrets.ts';

/** Creates the person, or changes what the draft names. Returns the link. */
export async function makeLink(people: People, { name, ...draft }: PersonDraft, url: string): Promise<string> {
  const known = await people.findByName(name);
  const person = known ?? (await people.create({ name, ...draft }, COMMAND_LINE));
  if (known !== null && Object.keys(draft).length > 0) await people.change(known.id, draft, COMMAND_LINE);
  const secret = createSecret();
  await people.addLink(person.id, { hash: secret.hash, lifetimeMs: LINK_LIFETIME_MS }, COMMAND_LINE);
  return linkOf(url, secret);
}
