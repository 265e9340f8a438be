"""Why an action has not run, over HTTP."""


def test_a_pending_action_states_when_it_will_run(call):
    made = call.schedule(body={"type": "remark", "payload": {}, "at": "2027-06-01T09:00:00Z"})
    assert call("why", action_id=made["id"]).json == {
        "sentence": "It is due at 2027-06-01T09:00:00Z.",
        "runs_at": "2027-06-01T09:00:00Z",
    }
