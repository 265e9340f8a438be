// A reference to a section of the runbook: a link if the deployment has its address, else the command that
// prints the section.

import { config } from "../config";
import { say } from "../words/shared";

export function Runbook({ section }: { section: string }) {
  if (config.runbook) return <a href={`${config.runbook}#${section}`}>{say("runbook")}</a>;
  return (
    <>
      {say("runbook")}: <code>duetime deployment runbook {section}</code>
    </>
  );
}
