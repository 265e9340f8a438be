// A notice that an operator has paused the caller's tenant.

import type { Schemas } from "../api";
import { me } from "../me";
import { Time } from "../time";
import { mine } from "./overview.words";

export function TenantPause({ pause }: { pause: Schemas["TenantPauseView"] | null | undefined }) {
  if (!pause) return null;
  const tenant = me.value.tenant_id;
  return (
    <div class="notice is-cancelled" role="status">
      <p>
        <span aria-hidden="true">❚❚</span> <strong>{mine("tenant_paused", { tenant })}</strong>
      </p>
      <p>
        {mine("tenant_paused_by", { by: pause.by, reason: pause.reason })} (
        <Time at={pause.since} as="short" />
        {pause.until && (
          <>
            {" – "}
            <Time at={pause.until} as="short" />
          </>
        )}
        )
      </p>
    </div>
  );
}
