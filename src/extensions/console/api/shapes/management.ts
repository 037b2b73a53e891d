/**
 * The requests and answers of the API's routes that change something, and of the lists beside them. Types only: the
 * page imports them.
 */

export type RoleShape = 'viewer' | 'editor' | 'admin';

/** `GET /me`. */
export interface MeShape {
  /** Null with a read token. */
  readonly id: string | null;
  readonly name: string;
  readonly role: RoleShape;
  /** `cookie`, `proxy`, `none`: with `none` there is no log-out. */
  readonly by: 'cookie' | 'token' | 'proxy' | 'none';
  /** Names, ascending. */
  readonly projects: readonly string[];
  readonly sees_content: boolean;
  /** IANA name of the server's time zone. */
  readonly zone: string;
  readonly version: string;
  /** The OTLP/HTTP endpoint for senders on this machine; null when it is not known. */
  readonly endpoint: string | null;
}

/** An element of `GET /projects` (`{items}`). */
export interface ProjectShape {
  readonly name: string;
  readonly plan: 'free' | 'paid';
  readonly monthly_spans: number | null;
  readonly spans_this_month: number;
  readonly active_keys: number;
  /** The start of the newest trace in Unix nanoseconds; null: none. */
  readonly newest_trace_unix_nano: string | null;
  /** Null: only keys of the configuration name it. */
  readonly created_at: string | null;
}

/** An element of `GET …/keys` (`{items}`). */
export interface KeyShape {
  readonly public_id: string;
  readonly environment: string | null;
  readonly label: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

/** The answer of `POST …/keys`, 201. The key is shown once. */
export interface NewKeyShape {
  readonly public_id: string;
  readonly key: string;
  /** The OTLP endpoint for senders; null when it is not known. */
  readonly endpoint: string | null;
}

/** An element of `GET …/tokens` (`{items}`). */
export interface TokenShape {
  readonly public_id: string;
  readonly label: string | null;
  readonly sees_content: boolean;
  readonly creator: string;
  /** Whether the caller may revoke it. */
  readonly revocable: boolean;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly used_at: string | null;
}

/** The answer of `POST …/tokens`, 201. The token is shown once. */
export interface NewTokenShape {
  readonly public_id: string;
  readonly token: string;
}

/** An element of `GET …/environments` (`{items}`): environments with a stored setting, and those of recent traces. */
export interface EnvironmentShape {
  readonly environment: string;
  /** The stored setting; null: the configuration decides. */
  readonly capture_content: boolean | null;
}

/**
 * Whose price it is: stored for the project or for all, of the configuration, a shipped correction, the shipped list,
 * or the list of a file.
 */
export type PriceSource = 'project' | 'all_projects' | 'configuration' | 'corrections' | 'bundled' | 'file';

/** The price of a call that begins now, for small prompts in the standard tier of service. */
export interface ModelPriceShape {
  readonly source: PriceSource;
  readonly version: string;
  /** The id of the entry in its list. */
  readonly entry: string;
  /** Null: always. */
  readonly effective_from: string | null;
  /** What the entry states as its own source. */
  readonly evidence: string | null;
  /** USD per million tokens by kind of token: `input`, `cache_read`, `output` and others. */
  readonly rates: Readonly<Partial<Record<string, string>>>;
}

/** An element of `GET …/prices` (`{items, known}`); `known`: whether this process knows prices. */
export interface PriceShape {
  readonly provider: string | null;
  readonly model: string | null;
  /** Among the newest 5,000 calls. */
  readonly call_count: number;
  readonly unpriced_count: number;
  /** Calls whose sender states the cost. */
  readonly stated_count: number;
  /** What decided the newest cost that was computed. */
  readonly price_id: string | null;
  /** Null: none, or not known. */
  readonly price: ModelPriceShape | null;
}

/** `GET …/retention`. Seconds; null: nothing is stored in PostgreSQL, or it is not known. */
export interface RetentionShape {
  readonly spans_seconds: number | null;
  readonly logs_seconds: number | null;
  readonly metrics_seconds: number | null;
  /** Whether days are in an archive before they are dropped. */
  readonly archived: boolean;
  readonly oldest_trace_unix_nano: string | null;
}

/** An element of `GET /people` (`{items}`); also the answer of `POST /people` and `PATCH /people/{person}`. */
export interface PersonShape {
  readonly id: string;
  readonly name: string;
  readonly role: RoleShape;
  /** Null: all projects. */
  readonly projects: readonly string[] | null;
  readonly sees_content: boolean;
  readonly created_at: string | null;
  readonly seen_at: string | null;
  readonly sessions: readonly SessionShape[];
}

export interface SessionShape {
  readonly id: string;
  readonly created_at: string;
  readonly seen_at: string;
  readonly address: string | null;
  readonly agent: string | null;
}

/** The answer of `POST /people/{person}/link`, 201. */
export interface LinkShape {
  readonly link: string;
  readonly expires_at: string;
}

/** The answer of `DELETE …/traces/{trace}`. */
export interface DeletedTraceShape {
  readonly spans: number;
  readonly logs: number;
  /** Entries of the project that are not forwarded yet. They may contain records of the trace. */
  readonly outbox_entries: number;
}

/** A refused request, without its body. */
export interface RefusalShape {
  readonly time: string;
  readonly code: string;
  readonly message: string;
  readonly cause: string | null;
  readonly signal: 'traces' | 'logs' | 'metrics' | null;
  readonly project: string | null;
  readonly key: string | null;
  readonly bytes: number | null;
  readonly address: string | null;
}

/** `GET /status`, for admins. */
export interface StatusShape {
  readonly version: string;
  readonly started_at: string;
  readonly ready: boolean;
  readonly problems: readonly string[];
  /** 0: the daemon is one process. */
  readonly workers: number;
  readonly migrations: readonly { readonly name: string; readonly applied_at: string }[];
  readonly outbox: readonly {
    readonly destination: string;
    readonly waiting: number;
    readonly waiting_bytes: number;
    readonly dead: number;
  }[];
  /** The data of `sluice status`; null in a process that does not know it. */
  readonly daemon: Readonly<Record<string, unknown>> | null;
  /** The newest first. Null where this process does not see them. */
  readonly refusals: readonly RefusalShape[] | null;
}
