// The channels of each notification: the choice, or the default without one.

import { FOR_ADMINS, kindOfNotification, NOTIFICATION_KINDS, type NotificationKind } from "../kinds.words";
import type { Scope } from "../scope";
import { channelsOf, type Draft, type View } from "./preferences-draft";
import { type Channel, CHANNELS, channel, say } from "./preferences.words";

interface Props {
  scope: Scope;
  draft: Draft;
  view: View;
  change: (next: Partial<Draft>) => void;
  mayChoose: boolean;
  isAdmin: boolean;
}

export function ChannelsTable({ scope, draft, view, change, mayChoose, isAdmin }: Props) {
  const kinds = NOTIFICATION_KINDS.filter((each) => scope === "system" || each !== "scheduling.undelivered");
  const lacking = CHANNELS.filter((each) => !view.channels_available.includes(each));
  const choose = (kind: NotificationKind, chosen: Channel[] | null) =>
    change({ channels: { ...draft.channels, [kind]: chosen } });
  return (
    <>
      <div class="scrolls">
        <table class="channels">
          <thead>
            <tr>
              <th scope="col">{say("kind")}</th>
              {CHANNELS.map((each) => (
                <th key={each} scope="col">
                  {channel(each)}
                </th>
              ))}
              <th scope="col">
                <span class="hidden">{say("by_default")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {kinds.map((kind) => {
              const [goes, isChosen] = channelsOf(kind, draft, view);
              const isForAdmins = FOR_ADMINS.includes(kind);
              const mayTick = isForAdmins ? isAdmin : mayChoose;
              const toggled = (each: Channel) =>
                CHANNELS.filter((other) => goes.includes(other) !== (other === each));
              return (
                <tr key={kind}>
                  <th scope="row">
                    {kindOfNotification(kind)}{" "}
                    {isForAdmins && (
                      <span class="chip" title={mayTick ? undefined : say("only_admins")}>
                        {say("for_admins")}
                      </span>
                    )}
                  </th>
                  {CHANNELS.map((each) => (
                    <td key={each} class="tick">
                      <label data-label={channel(each)}>
                        <input
                          type="checkbox"
                          checked={goes.includes(each)}
                          disabled={!mayTick}
                          aria-label={say("tick", { kind: kindOfNotification(kind), channel: channel(each) })}
                          onChange={() => choose(kind, toggled(each))}
                        />
                      </label>
                    </td>
                  ))}
                  <td class="by-default">
                    <span class="muted">{inForce(goes, isChosen)}</span>{" "}
                    {isChosen && mayTick && (
                      <button
                        type="button"
                        class="link"
                        aria-label={say("back_name", { kind: kindOfNotification(kind) })}
                        onClick={() => choose(kind, null)}
                      >
                        {say("back")}
                      </button>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {lacking.map((each) => (
        <p key={each} class="stale">
          {say("unavailable", { channel: channel(each) })}
        </p>
      ))}
    </>
  );
}

function inForce(goes: Channel[], isChosen: boolean): string {
  if (isChosen) return say(goes.length === 0 ? "chosen_nowhere" : "chosen");
  return say(goes.length === 0 ? "default_nowhere" : "by_default");
}
