// The report of a redrive in stages: what became of the actions of each.

import { ActionLink, bounded } from "./shown";
import { say } from "./bulk.words";
import { errorOf, OUTCOMES, type Stage, type Staging } from "./staged";

const NAMED = 3;

export function Stages({ staging: { stages, end }, isStopped }: { staging: Staging; isStopped: boolean }) {
  return (
    <>
      <ol class="stages">
        {stages.map((stage) => (
          <StageItem key={stage.number} stage={stage} />
        ))}
      </ol>
      {end && (
        <p>
          <strong>{say(`stages_${end}`)}</strong>
        </p>
      )}
      {isStopped && <p>{say("stages_stopped")}</p>}
    </>
  );
}

function StageItem({ stage }: { stage: Stage }) {
  const counts = OUTCOMES.filter((name) => stage.outcomes[name].length > 0).map((name) =>
    say(`stage_${name}`, { n: stage.outcomes[name].length }),
  );
  if (stage.left.length > 0) counts.push(say("stage_left", { n: stage.left.length }));
  const failed = [...stage.outcomes.same_error, ...stage.outcomes.other_error].slice(0, NAMED);
  return (
    <li>
      <strong>{say("stage", { number: stage.number })}</strong> {say("stage_redriven", { n: stage.redriven })}
      {counts.length > 0 && `: ${counts.join(", ")}`}
      {failed.length > 0 && (
        <ul class="examples">
          {failed.map((action) => (
            <li key={action.id}>
              <ActionLink id={action.id} /> <bdi>{bounded(errorOf(action))}</bdi>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
