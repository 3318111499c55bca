# Stands in for docker.io/library/node where no image registry can be reached. The context holds Node and npm under usr/.
ARG DEBIAN
FROM ${DEBIAN}
COPY usr /usr
CMD ["node"]
