//! Failures as client libraries, gateways and proxies tell them: by the name of an exception, by an object as Python
//! writes it, by a code in a sentence, by a field of limits of which there are several spellings.

use faultlab::wire::{Dialect, Input, classify};
use serde_json::{Value, json};
use std::sync::LazyLock;

static DIALECT: LazyLock<Dialect> = LazyLock::new(Dialect::standard);

const RATE: &str = "RETRYABLE_RATE_LIMIT";
const ILL: &str = "RETRYABLE_OVERLOAD";
const FUNDS: &str = "TERMINAL_FUNDS";
const AUTH: &str = "TERMINAL_AUTH";
const POLICY: &str = "TERMINAL_POLICY";
const OURS: &str = "NON_RETRYABLE";

/// The class, whether it speaks of health, and where to send it again.
fn check(value: &Value, class: &str, health: bool, resend: &str) {
    let verdict = classify(&Input::from_json(value.clone()), &DIALECT);
    let found = (verdict.label(), verdict.health_signal, verdict.resend.label());
    assert_eq!(found, (class, health, resend), "{} {value}", verdict.rule);
}

fn exception(kind: &str, message: &str) -> Value {
    json!({"provider": "any", "kind": "sdk_exception", "body": {"exception": {"type": kind, "message": message}}})
}

fn response(provider: &str, status: u16, message: &str) -> Value {
    json!({"provider": provider, "status": status, "body": {"error": {"message": message}}})
}

#[test]
fn a_connection_that_broke_is_known_by_the_end_of_its_name() {
    for kind in [
        "httpx.ReadTimeout",
        "httpx.ConnectTimeout",
        "httpx.ConnectError",
        "httpcore.RemoteProtocolError",
        "aiohttp.ClientConnectorError",
        "aiohttp.client_exceptions.ServerDisconnectedError",
        "aiohttp.ClientOSError",
        "requests.exceptions.ChunkedEncodingError",
        "botocore.exceptions.EndpointConnectionError",
        "urllib3.exceptions.ProtocolError",
        "urllib3.exceptions.NewConnectionError",
        "ConnectionResetError",
        "BrokenPipeError",
        "ssl.SSLError",
        "socket.gaierror",
        "grpc.aio.AioRpcError",
        "openai.APITimeoutError",
        "APIConnectionTimeoutError",
        "FetchError",
        "java.net.SocketTimeoutException",
        "java.net.UnknownHostException",
        "http.client.IncompleteRead",
        "Net::ReadTimeout",
        "UND_ERR_CONNECT_TIMEOUT",
    ] {
        check(&exception(kind, ""), ILL, true, "same");
    }
    check(&exception("TypeError", "fetch failed"), ILL, true, "same");
    check(&exception("httpx.PoolTimeout", ""), ILL, false, "same");
    check(&exception("ssl.SSLCertVerificationError", "certificate verify failed"), OURS, false, "other");
    check(&exception("httpx.UnsupportedProtocol", ""), OURS, false, "none");
    check(&exception("botocore.exceptions.NoCredentialsError", ""), AUTH, false, "other");
    check(&exception("openai.APIUserAbortError", ""), "NONE", false, "none");
    check(&exception("KeyError", "'choices'"), OURS, false, "none");
}

#[test]
fn a_wrapper_speaks_where_its_cause_is_unknown() {
    let wrapped = |inner: Value| {
        json!({"kind": "sdk_exception", "body": {"exception":
            {"type": "litellm.exceptions.APIConnectionError", "message": "wrapped", "__cause__": inner}}})
    };
    check(&wrapped(json!({"type": "somebody.Unheard", "message": "?"})), ILL, true, "same");
    check(&wrapped(json!({"type": "httpx.PoolTimeout"})), ILL, false, "same");
    check(&wrapped(json!({"type": "openai.RateLimitError", "status_code": 429})), RATE, false, "same");
    check(&wrapped(json!("ConnectError('[Errno 111] Connection refused')")), ILL, true, "same");
    check(&json!({"kind": "sdk_exception", "body": "httpx.ReadTimeout: timed out"}), ILL, true, "same");
}

#[test]
fn an_object_as_python_writes_it_is_read_like_json() {
    let error = |code: &str| {
        format!("Error code: 429 - {{'error': {{'message': \"it's\", 'param': None, 'code': '{code}'}}}}")
    };
    check(&exception("openai.RateLimitError", &error("insufficient_quota")), FUNDS, false, "other");
    check(&exception("openai.RateLimitError", &error("rate_limit_exceeded")), RATE, false, "same");
    check(
        &response(
            "litellm",
            500,
            &format!("litellm.APIError: OpenAIException - {}", error("billing_not_active")),
        ),
        FUNDS,
        false,
        "other",
    );
    check(
        &response("any", 502, "Error code: 400 - {'error': {'message': 'x', 'code': 'model_not_found'}}"),
        OURS,
        false,
        "other",
    );
    check(
        &response(
            "any",
            500,
            "AnthropicException - b'{\"error\":{\"type\":\"authentication_error\",\"message\":\"x\"}}'",
        ),
        AUTH,
        false,
        "other",
    );
    let quoted =
        "Error code: 400 - {'error': {'message': \"Invalid value: 'overdue'\", 'code': 'invalid_value'}}";
    check(&exception("openai.BadRequestError", quoted), OURS, false, "none");
}

#[test]
fn the_status_in_a_text_counts_where_there_is_no_other() {
    check(
        &exception("requests.exceptions.HTTPError", "503 Server Error: Service Unavailable for url: x"),
        ILL,
        true,
        "same",
    );
    check(
        &exception("httpx.HTTPStatusError", "Client error '429 Too Many Requests' for url 'x'"),
        RATE,
        false,
        "same",
    );
    check(&exception("AxiosError", "Request failed with status code 401"), AUTH, false, "other");
    check(&response("openai", 400, "Upstream status code: 404."), OURS, false, "none");
}

#[test]
fn the_code_in_a_text_of_botocore_or_grpc_is_a_code() {
    let of = |code: &str| {
        exception(
            "botocore.exceptions.ClientError",
            &format!("An error occurred ({code}) when calling the Converse operation: x"),
        )
    };
    check(&of("ServiceUnavailableException"), ILL, true, "same");
    check(&of("InternalServerException"), ILL, true, "same");
    check(&of("ModelTimeoutException"), ILL, true, "same");
    check(&of("ThrottlingException"), RATE, false, "same");
    check(&of("ServiceQuotaExceededException"), "QUOTA_EXHAUSTED", false, "other");
    check(&of("UnrecognizedClientException"), AUTH, false, "other");
    check(&of("AccessDeniedException"), AUTH, false, "other");
    check(&of("ValidationException"), OURS, false, "none");
    check(
        &exception("grpc.RpcError", "<RPC that terminated with:\n\tstatus = StatusCode.RESOURCE_EXHAUSTED>"),
        RATE,
        false,
        "same",
    );
}

#[test]
fn what_must_stay_terminal_under_a_bad_request_does() {
    check(
        &response("anthropic", 400, "Your credit balance is too low to access the API."),
        FUNDS,
        false,
        "other",
    );
    check(&response("any", 400, "insufficient_quota: nothing is left"), FUNDS, false, "other");
    check(
        &response("any", 400, "the upstream said \"Your credit balance is too low to access the API.\""),
        FUNDS,
        false,
        "other",
    );
    check(&response("deepseek", 400, "Content Exists Risk"), POLICY, false, "none");
    check(&response("any", 400, "Invalid token"), AUTH, false, "other");
    check(&response("any", 400, "Unexpected end of JSON input: invalid token"), OURS, false, "none");
    check(&response("any", 400, "The engine is overloaded"), ILL, true, "same");
    check(&response("any", 400, "Invalid value {'message': 'spending limit'} for x"), OURS, false, "none");
    for named in [
        "Provider returned: tool `insufficient funds` schema",
        "property 'paymentRequired' is missing",
        "Ensure that a response follows a function call turn: lookupOverdueInvoices",
    ] {
        check(&response("any", 400, named), OURS, false, "none");
    }
    check(&response("any", 503, "Deployment 'content_filter' is temporarily unavailable"), ILL, true, "same");
    check(&response("any", 500, "upstream: \"insufficient_quota\""), FUNDS, false, "other");
    let address = "You may not use this. See https://example.org/spending-limit/overdue.";
    check(&response("any", 403, address), AUTH, false, "other");
    let tool = "The server had an error running function 'get_unpaid_invoices'.";
    check(&response("openai", 500, tool), ILL, true, "same");
}

#[test]
fn who_tells_a_limit_in_numbers_is_not_out_of_capacity() {
    let limited = "Rate limit exceeded: limit_rpm/x. High demand for x - limited to 3 requests per minute.";
    check(&response("openrouter", 429, limited), RATE, false, "same");
    check(&response("openrouter", 429, "High demand for x. Please retry shortly."), ILL, true, "same");
    let mut empty = response("openrouter", 429, "High demand for x. Please retry shortly.");
    empty["headers"] = json!({"X-RateLimit-Remaining": "0"});
    check(&empty, RATE, false, "same");
}

#[test]
fn a_proxy_in_front_speaks_for_the_provider() {
    let scope = |provider: &str, status: u16, body: &str| {
        let value = json!({"provider": provider, "status": status, "body": body});
        let verdict = classify(&Input::from_json(value), &DIALECT);
        (verdict.label(), verdict.scope.label())
    };
    assert_eq!(scope("openai", 429, "local_rate_limited"), (RATE, "provider"));
    assert_eq!(scope("gemini", 503, "no healthy upstream"), (ILL, "provider"));
}

#[test]
fn ends_of_answers_that_are_none_or_no_failure_are_told_apart() {
    let frame = |event: Value| {
        let stream = json!({"event": event, "prior": "none", "output_bytes": 0, "ended": ""});
        json!({"provider": "cohere", "kind": "stream_event", "status": 200, "stream": stream})
    };
    check(&frame(json!({"type": "message-end", "delta": {"finish_reason": "ERROR"}})), ILL, true, "same");
    check(
        &frame(json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE"}})),
        "NONE",
        false,
        "none",
    );
    let ended =
        json!({"event": null, "prior": "contentBlockDelta", "output_bytes": 9, "ended": "messageStop"});
    check(&json!({"kind": "stream_end", "status": 200, "stream": ended}), "NONE", false, "none");
    let cut = json!({"event": null, "prior": "contentBlockDelta", "output_bytes": 9, "ended": "eof before messageStop"});
    check(&json!({"kind": "stream_end", "status": 200, "stream": cut}), ILL, true, "none");
    let paused = json!({"type": "message", "content": [], "stop_reason": "pause_turn"});
    check(&json!({"provider": "anthropic", "status": 200, "body": paused}), "NONE", false, "none");
}

#[test]
fn money_and_access_in_the_words_of_several_providers() {
    check(&response("mistral", 401, "Inactive subscription or usage limit reached"), FUNDS, false, "other");
    check(
        &response("anthropic", 400, "This credential is only authorized for use with X."),
        AUTH,
        false,
        "other",
    );
    let coded = |provider: &str, status: u16, code: &str| json!({"provider": provider, "status": status, "body": {"error": {"message": "m", "type": code}}});
    check(&coded("together", 402, "credit_limit"), FUNDS, false, "other");
    check(&coded("groq", 400, "organization_restricted"), AUTH, false, "other");
    check(&coded("openai", 429, "resource_unavailable"), ILL, true, "same");
    check(&response("any", 402, "60-minute credit limit exceeded"), FUNDS, false, "other");
    check(&response("any", 429, "60-minute credit limit exceeded"), "QUOTA_EXHAUSTED", false, "other");
}
