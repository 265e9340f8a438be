// A problem that the API returned (RFC 9457), or a missing response.

export interface Flaw {
  where: string;
  problem: string;
}

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly errors: Flaw[] = [],
    readonly more: Record<string, unknown> = {},
  ) {
    super(detail || title);
  }

  /** Whether the roles do not allow it. */
  get isForbidden(): boolean {
    return this.status === 403;
  }

  /** Whether the sign-in is missing or has ended. */
  get isSignedOut(): boolean {
    return this.status === 401;
  }

  /** Whether it may pass by itself. */
  get isTemporary(): boolean {
    return this.status === UNREACHABLE || this.status === 429 || this.status >= 500;
  }

  /** Whether there is no such thing (any more). */
  get isMissing(): boolean {
    return this.status === 404;
  }
}

/** The pool did not let the user in: its reason. */
export class SignInDenied extends Error {}

export const UNREACHABLE = 0;

export function problemOf(status: number, body: unknown): Problem {
  const fields = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string) => (typeof fields[name] === "string" ? (fields[name] as string) : "");
  const code = text("type").replace("urn:duetime:problem:", "");
  const errors = Array.isArray(fields.errors) ? (fields.errors as Flaw[]) : [];
  return new Problem(
    status,
    code,
    text("title") || String(status),
    text("detail") || text("message"),
    errors,
    fields,
  );
}
