/** A route below `/tempo`: the project of the caller, and errors as text, which Grafana shows as it is. */
import { asConsoleError } from '../server/failures.ts';
import { replyInOwnProject } from '../server/own-project.ts';
import { type Reply, type RequestContext, type Route, foreignRoute, text } from '../server/route.ts';

export const tempoRoute = (path: string, handle: (context: RequestContext) => Promise<Reply> | Reply): Route =>
  foreignRoute(`/tempo/api${path}`, async (context) => {
    try {
      return await replyInOwnProject(context, handle);
    } catch (error) {
      const { code, message, hint, status } = asConsoleError(error);
      // The server logs a fault of the console itself.
      if (code === 'internal') throw error;
      return text(hint === null ? message : `${message} (${hint})`, status);
    }
  });
