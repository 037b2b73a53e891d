/** Read tokens of a project. Editors make them and revoke their own; admins revoke all. */
import type { ReadTokenRow } from '../../../component/capabilities/people.ts';
import { createReadToken } from '../../../pdata/api-key.ts';
import { ConsoleError } from '../errors.ts';
import {
  type Caller,
  changeRoute,
  EMPTY,
  json,
  PROJECT,
  personRoute,
  type RequestContext,
  type Route,
} from '../server/route.ts';
import { flagIn, textIn, timeIn } from './body-fields.ts';
import type { NewTokenShape, TokenShape } from './shapes/management.ts';

async function listTokens({ project, caller, people }: RequestContext) {
  const tokens = await people.listTokens(project);
  return json({ items: tokens.map((token) => tokenShape(token, caller)) });
}

const tokenShape = (token: ReadTokenRow, caller: Caller): TokenShape => ({
  public_id: token.publicId,
  label: token.label,
  sees_content: token.seesContent,
  creator: token.creator,
  revocable: mayRevoke(token, caller),
  created_at: token.createdAt.toISOString(),
  expires_at: token.expiresAt?.toISOString() ?? null,
  revoked_at: token.revokedAt?.toISOString() ?? null,
  used_at: token.usedAt?.toISOString() ?? null,
});

function mayRevoke({ createdBy, creator }: ReadTokenRow, { role, id, name }: Caller): boolean {
  return role === 'admin' || (createdBy === null ? creator === name : createdBy === id);
}

async function createToken({ project, caller, body, people, actor, now }: RequestContext) {
  const expiresAt = timeIn(body, 'expires_at');
  if (expiresAt !== null && expiresAt.getTime() <= now())
    throw new ConsoleError('body_invalid', { message: '"expires_at" must be in the future.' });
  const seesContent = flagIn(body, 'sees_content') ?? false;
  if (seesContent && !caller.seesContent)
    throw new ConsoleError('forbidden', { message: 'You do not see content, so your tokens cannot either.' });
  const { text, publicId, hash } = createReadToken();
  await people.addToken({ project, label: textIn(body, 'label'), seesContent, expiresAt }, { publicId, hash }, actor);
  const answer: NewTokenShape = { public_id: publicId, token: text };
  return json(answer, 201);
}

async function revokeToken({ project, caller, parameter, people, actor }: RequestContext) {
  const publicId = parameter('token');
  const token = (await people.listTokens(project)).find((each) => each.publicId === publicId);
  if (token === undefined) throw new ConsoleError('not_found');
  if (!mayRevoke(token, caller))
    throw new ConsoleError('forbidden', { message: 'Another person made this token.', hint: 'Ask an admin.' });
  await people.revokeToken(project, publicId, actor);
  return EMPTY;
}

export const TOKEN_ROUTES: readonly Route[] = [
  personRoute(`${PROJECT}/tokens`, 'editor', listTokens),
  changeRoute(
    'POST',
    `${PROJECT}/tokens`,
    { role: 'editor', body: ['label', 'sees_content', 'expires_at'] },
    createToken,
  ),
  changeRoute('DELETE', `${PROJECT}/tokens/{token}`, { role: 'editor' }, revokeToken),
];
