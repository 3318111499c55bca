"""What a tester that knows only the document can't know: an agent there is, and which streams never end."""

import schemathesis


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if path_parameters and "agentId" in path_parameters:
        return {**path_parameters, "agentId": "poet"}
    return path_parameters


@schemathesis.hook
def before_call(context, case, kwargs):
    if any(parameter.name == "follow" for parameter in case.operation.query):
        case.query = {**(case.query or {}), "follow": "false"}
    for holder in (case.body, case.body.get("body") if isinstance(case.body, dict) else None):
        props = holder.get("forwardedProps") if isinstance(holder, dict) else None
        ours = props.get("throughline") if isinstance(props, dict) else None
        if isinstance(ours, dict) and ours.get("follow") is True:
            ours["follow"] = False
