"""Writes one JSON line per finished model call, for Throughline's reconciliation.

A LiteLLM callback: put this file beside LiteLLM's config and name it there,

    litellm_settings:
      callbacks: throughline_logger.logger

The file is THROUGHLINE_SPEND_LOG. Each line is on disk before the next is written, so that a killed proxy loses none.
Nothing of prompts or answers is written, and no key: keys are named by their SHA-256.
"""

import json
import os

from litellm.integrations.custom_logger import CustomLogger

_PATH = os.environ["THROUGHLINE_SPEND_LOG"]


def _line(status, kwargs):
    payload = kwargs.get("standard_logging_object") or {}
    metadata = payload.get("metadata") or {}
    labels = metadata.get("spend_logs_metadata") or {}
    error = payload.get("error_information") or {}
    return {
        "v": 1,
        "status": status,
        "call_id": kwargs.get("litellm_call_id"),
        "request_id": payload.get("id"),
        "unit_id": labels.get("usageUnitId"),
        "key_hash": metadata.get("user_api_key_hash"),
        "spend": payload.get("response_cost"),
        "input_tokens": payload.get("prompt_tokens"),
        "output_tokens": payload.get("completion_tokens"),
        "cache_hit": payload.get("cache_hit") is True,
        "error_code": error.get("error_code") or None,
        "model_group": payload.get("model_group"),
        "ended_at": payload.get("endTime"),
        "labels": labels,
    }


def _write(status, kwargs):
    text = json.dumps(_line(status, kwargs), default=str) + "\n"
    with open(_PATH, "a", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


class ThroughlineLogger(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        _write("success", kwargs)

    async def async_log_failure_event(self, kwargs, response_obj, start_time, end_time):
        _write("failure", kwargs)


logger = ThroughlineLogger()
