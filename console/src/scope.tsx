// Whose list and preferences are looked at: the tenant's own, or, for operators, the deployment's. It is in
// the address.

import { can, me, SYSTEM } from "./me";
import { place } from "./route";
import { Field } from "./ui/act";
import { say } from "./scope.words";

export type Scope = "tenant" | "system";

/** Whether an address may have this scope. */
export const isScope = (value: string) => value === "tenant" || value === "system";

export function scopeInAddress(): Scope {
  return place.value.query.get("scope") === "system" && can("system") ? "system" : "tenant";
}

/** Whose it is, as a name. */
export function scopeName(scope: Scope): string {
  return scope === "system" ? SYSTEM : me.value.tenant_id;
}

/** The choice between the two, where there is one. */
export function ScopeField({ scope, choose }: { scope: Scope; choose: (scope: Scope) => void }) {
  if (!can("system")) return null;
  return (
    <Field label={say("scope")}>
      <select value={scope} onChange={(event) => choose(event.currentTarget.value as Scope)}>
        <option value="tenant">{say("tenant", { tenant: me.value.tenant_id })}</option>
        <option value="system">{say("system")}</option>
      </select>
    </Field>
  );
}
