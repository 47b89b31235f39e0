FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY requirements requirements
COPY deploy/install deploy/install
COPY service service
RUN deploy/install /opt/scorewright
RUN SCOREWRIGHT_DATA_DIR=/opt/scorewright/share /opt/scorewright/bin/scorewright model fetch

FROM python:3.13-slim
RUN useradd --system --uid 10001 --no-create-home scorewright
COPY --from=build /opt/scorewright /opt/scorewright
ENV PATH=/opt/scorewright/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SCOREWRIGHT_DATA_DIR=/opt/scorewright/share \
    SCOREWRIGHT_HOST=0.0.0.0 \
    SCOREWRIGHT_PORT=8000
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/livez', timeout=2)"]
STOPSIGNAL SIGTERM
CMD ["scorewright", "serve"]
