"""Virtual keys for a LiteLLM without a database.

Reads RIG_KEYS, a JSON object of key to {alias, account, models, over_budget}, anew for each request, and refuses with the
statuses and types that LiteLLM uses with a database.
"""

import hashlib
import json
import os

from litellm.proxy._types import ProxyException, UserAPIKeyAuth


async def user_auth(request, api_key: str) -> UserAPIKeyAuth:
    with open(os.environ["RIG_KEYS"], encoding="utf-8") as file:
        row = json.load(file).get(api_key)
    if row is None:
        raise ProxyException(message="unknown key", type="token_not_found_in_db", param="key", code=401)
    models = row.get("models") or []
    # LiteLLM applies neither the models nor the budget that custom auth returns.
    if request.method == "POST" and models:
        model = (await request.json()).get("model")
        if model not in models:
            raise ProxyException(message="model not allowed", type="key_model_access_denied", param="model", code=403)
    if row.get("over_budget"):
        raise ProxyException(message="Budget has been exceeded!", type="budget_exceeded", param=None, code=422)
    return UserAPIKeyAuth(
        api_key=hashlib.sha256(api_key.encode()).hexdigest(),
        key_alias=row.get("alias"),
        models=models,
        metadata={"billingAccountId": row.get("account")},
    )
