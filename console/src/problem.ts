// A refusal of the API, as RFC 9457 tells it; or that nobody answered.

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

  /** Whether there is no such thing (any more). */
  get isMissing(): boolean {
    return this.status === 404;
  }
}

export const UNREACHABLE = 0;

export function problemOf(status: number, body: unknown): Problem {
  const told = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string) => (typeof told[name] === "string" ? (told[name] as string) : "");
  const code = text("type").replace("urn:duetime:problem:", "");
  const errors = Array.isArray(told.errors) ? (told.errors as Flaw[]) : [];
  return new Problem(
    status,
    code,
    text("title") || String(status),
    text("detail") || text("message"),
    errors,
    told,
  );
}
