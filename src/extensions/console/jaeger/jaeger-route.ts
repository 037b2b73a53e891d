/** A route below `/jaeger`: the project of the caller, and errors in the shape of Jaeger's API. */
import { ConsoleError } from '../errors.ts';
import { asConsoleError } from '../server/failures.ts';
import { replyInOwnProject } from '../server/own-project.ts';
import { type Reply, type RequestContext, type Route, foreignRoute } from '../server/route.ts';

export type JaegerHandle = (context: RequestContext) => Promise<Reply> | Reply;

/** A route of the API that Grafana and older versions of Jaeger UI use. */
export const oldRoute = (path: string, handle: JaegerHandle): Route =>
  jaegerRoute(`/jaeger/api${path}`, handle, ({ message, status }) => ({
    ...{ data: null, total: 0, limit: 0, offset: 0 },
    errors: [{ code: status, msg: message }],
  }));

/** A route of the API of present versions of Jaeger UI. */
export const v3Route = (path: string, handle: JaegerHandle): Route =>
  jaegerRoute(`/jaeger/api/v3${path}`, handle, ({ message, status }) => ({
    error: { httpCode: status, message },
  }));

function jaegerRoute(path: string, handle: JaegerHandle, write: (error: ConsoleError) => object): Route {
  return foreignRoute(path, async (context) => {
    try {
      return await replyInOwnProject(context, handle);
    } catch (error) {
      const known = asConsoleError(error);
      // The server logs a fault of the console itself.
      if (known.code === 'internal') throw error;
      return { kind: 'json', status: known.status, value: write(known) };
    }
  });
}

/** The answer of the older API. */
export const answer = (data: readonly unknown[]): Reply => ({
  kind: 'json',
  value: { data, total: data.length, limit: 0, offset: 0, errors: null },
});

export const refuse = (message: string): ConsoleError => new ConsoleError('request_invalid', { message });
